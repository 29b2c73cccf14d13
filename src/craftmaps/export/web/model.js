// What a model does with a row: steps that shape it, up-features added to sums, a head, and scores. Files of their own
// have the steps, functions of a step that return functions from rows to rows, and the features.
const STEPS = {}, FEATURES = {};

// The sum that every up-feature is added to, and its sign.
function drawSums(down, nColumns) {
  const place = new Uint32Array(nColumns).map((_, c) => c), sign = new Float64Array(nColumns).fill(1);
  if (!down) return { place, sign, n: nColumns };
  const { seed, chunk, width, kept } = down;
  const shifts = integers(seed, 'shifts', ceil(width / chunk), chunk), s = signs(seed, width);
  for (let c = 0; c < nColumns; c++) {
    place[c] = c < width ? c % chunk ^ shifts[floor(c / chunk)] : chunk + c - width;
    if (c < width) sign[c] = s[c];
  }
  return { place, sign, n: chunk + kept };
}

function loadModel(recipe) {
  const f = recipe.features, sums = drawSums(recipe.down, f.n_columns), features = FEATURES[f.kind](f, sums);
  const steps = recipe.steps.map((step) => STEPS[step.kind](step));
  const head = numbersOf(recipe.head.weights), n = sums.n, k = recipe.head.bias.length, total = new Float64Array(n);
  // Constant features are the same for every row.
  const bias = recipe.head.bias.map((b, c) =>
    features.base ? features.base.reduce((sum, v, i) => sum + head[c * n + i] * v, b) : b);
  const through = (row, some) => some.reduce((x, step) => step(x), Float64Array.from(row));
  const shape = (row) => through(row, steps), linear = recipe.linear && numbersOf(recipe.linear.weights);
  // What the outputs of a row start from: the bias, and what its columns add.
  function start(row) {
    if (!linear) return bias;
    const x = through(row, steps.slice(0, recipe.linear.n_steps));
    return bias.map((b, c) => x.reduce((sum, v, i) => sum + linear[c * x.length + i] * v, b));
  }
  function outputs(row) {
    total.fill(0);
    features.add(shape(row), total);
    return start(row).map((sum, c) => {
      for (let i = 0, at = c * n; i < n; i++) sum += head[at + i] * total[i];
      return sum;
    });
  }
  return { recipe, features, shape, start, outputs, head, n, k, fast: null };
}

// Outputs of many rows: in WebAssembly four at a time where there is any, else one after the other.
function outputsOf(model, rows) {
  const all = [];
  for (let r = 0; r < rows.length; r += 4) {
    const some = rows.slice(r, r + 4);
    all.push(...model.fast ? model.fast(some) : some.map(model.outputs));
  }
  return all;
}

// Scores are the outputs, but where a code is not decoded by a product: see words.js.
function scoresOf(recipe, outputs) {
  return recipe.classes && recipe.classes.decoding ? decoded(recipe.classes.decoding, outputs) : outputs;
}

function probabilitiesOf(recipe, scores) {
  const top = max(...scores), powers = scores.map((s) => Math.exp(recipe.classes.factor * (s - top)));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((p) => p / sum);
}

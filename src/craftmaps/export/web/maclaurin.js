// Random Maclaurin features: products of randomised projections.
FEATURES.maclaurin = (f, sums) => {
  const { order, parts, counts, seed, width, scale } = f, { place, sign } = sums, base = new Float64Array(sums.n);
  const degrees = counts.flatMap((n, degree) => degree ? Array(n).fill(degree) : []).reverse();
  const size = order || degrees.length;
  const top = degrees[0] || 0, nFactors = degrees.reduce((n, degree, i) => n + (i % size ? 0 : degree), 0);
  // Without blocks, factor j of all features stands after all earlier factors.
  const starts = [0];
  for (let j = 0; j < top; j++) starts.push(starts[j] + degrees.filter((n) => n > j).length);
  const rows = order && permutations(seed, 'rows', nFactors, order);
  const nBlocks = order ? (f.shared ? top : nFactors) : starts[top];
  // By degree: where factors stand among all projections, which sums a feature is added to, and its weights there.
  const lists = [];
  let column = 0, factor = 0;
  for (let g = 0; g < degrees.length; g += size) {
    const n = min(size, degrees.length - g), first = f.shared ? 0 : factor;
    for (let i = 0; i < n; i++) {
      const degree = degrees[g + i], weight = sqrt(f.weights[degree] / parts ** degree);
      const list = lists[degree] ??= { degree, at: [], to: [], weights: [] };
      for (let j = 0; j < degree; j++)
        list.at.push(order ? (first + j) * parts * order + rows[(factor + j) * order + i] : parts * (starts[j] + i));
      // Real parts come before imaginary ones; those that are not there have no weight.
      for (let part = 0; part < 2; part++) {
        const c = column + i + (part < parts ? part * n : 0);
        list.to.push(place[c]);
        list.weights.push(part < parts ? weight * sign[c] : 0);
      }
    }
    column += parts * n;
    factor += degrees[g];
  }
  // The same for every row: features of degree 0, and the constant of the exact part.
  const constant = (square, c) => { base[place[c]] += sign[c] * sqrt(square); };
  for (let i = 0; i < counts[0]; i++) constant(f.weights[0], column + i);
  if (f.constant) constant(f.coefficients[0], f.n_columns - 1);
  const linear = f.n_columns - f.constant - f.linear, flips = signs(seed, nBlocks * parts * (order || width));
  const exact = (_, i) => [place[linear + i], sign[linear + i] * sqrt(f.coefficients[1])];
  const plan = { order, parts, width, scale, nBlocks, flips, lists: lists.filter(Boolean), base,
    linear: Array.from({ length: f.linear }, exact) };
  return { ...plan, add: addProducts(plan) };
};

// Hadamard transform of n numbers in place, two strides at a time.
function transform(x, start, n) {
  let h = 1;
  if (log2(n) % 2) {
    for (let i = start; i < start + n; i += 2) { const a = x[i], b = x[i + 1]; x[i] = a + b; x[i + 1] = a - b; }
    h = 2;
  }
  for (; h < n; h *= 4)
    for (let i = start; i < start + n; i += 4 * h)
      for (let j = i; j < i + h; j++) {
        const a = x[j], b = x[j + h], c = x[j + 2 * h], d = x[j + 3 * h];
        x[j] = a + b + (c + d); x[j + h] = a - b + (c - d);
        x[j + 2 * h] = a + b - (c + d); x[j + 3 * h] = a - b - (c - d);
      }
}

// A function that adds the features of a row to sums.
function addProducts({ order, parts, width, scale, nBlocks, flips, lists, linear }) {
  const stride = order || 1, wide = order || width, numbers = new Float64Array(nBlocks * parts * stride + 1);
  lists = lists.map(({ degree, at, to, weights }) =>
    ({ degree, at: Uint32Array.from(at), to: Uint32Array.from(to), weights: Float64Array.from(weights) }));
  return (row, total) => {
    const x = row.map((v) => v * scale);
    for (let b = 0; b < nBlocks * parts; b++) {
      let sum = 0;
      for (let i = 0, from = b * wide; i < width; i++) {
        const v = flips[from + i] * x[i];
        if (order) numbers[from + i] = v;
        sum += v;
      }
      if (order) transform(numbers.fill(0, b * order + width, (b + 1) * order), b * order, order);
      else numbers[b] = sum;
    }
    for (const { degree, at, to, weights } of lists)
      for (let i = 0, p = 0; i < to.length; i += 2) {
        let a = 1, b = 0;
        for (let j = 0; j < degree; j++, p++) {
          const u = numbers[at[p]], v = parts === 2 ? numbers[at[p] + stride] : 0, t = a * u - b * v;
          b = a * v + b * u;
          a = t;
        }
        total[to[i]] += weights[i] * a;
        total[to[i + 1]] += weights[i + 1] * b;
      }
    linear.forEach(([c, weight], i) => { total[c] += weight * x[i]; });
  };
}

// Random Maclaurin features: products of randomised projections.
function drawMaclaurin(f, sums) {
  const { order, parts, counts, seed, width } = f, degrees = [];
  for (let n = counts.length - 1; n > 0; n--) for (let i = 0; i < counts[n]; i++) degrees.push(n);
  const size = order || Math.max(1, degrees.length), stride = order || 1;
  const top = degrees[0] || 0;
  let nFactors = 0;
  for (let g = 0; g < degrees.length; g += size) nFactors += degrees[g];
  // Without blocks, factor j of all features stands after all earlier factors.
  const starts = [0];
  for (let j = 0; j < top; j++) starts.push(starts[j] + degrees.filter((n) => n > j).length);
  const rows = order && permutations(seed, 'rows', nFactors, order);
  const nBlocks = order ? (f.shared ? top : nFactors) : starts[top];
  // By degree: where factors stand among all projections, which sums a feature is added to, and its weights there.
  const lists = [];
  let column = 0, factor = 0;
  for (let g = 0; g < degrees.length; g += size) {
    const n = Math.min(size, degrees.length - g), first = f.shared ? 0 : factor;
    for (let i = 0; i < n; i++) {
      const degree = degrees[g + i], weight = Math.sqrt(f.weights[degree] / parts ** degree);
      const list = lists[degree] ??= { degree, at: [], re: [], im: [], wre: [], wim: [] };
      for (let j = 0; j < degree; j++)
        list.at.push(order ? (first + j) * parts * order + rows[(factor + j) * order + i] : parts * (starts[j] + i));
      for (const [places, weights, c] of [[list.re, list.wre, column + i], [list.im, list.wim, column + n + i]]) {
        if (parts === 1 && places === list.im) continue;
        places.push(sums.place[c]);
        weights.push(weight * sums.sign[c]);
      }
    }
    column += parts * n;
    factor += degrees[g];
  }
  const base = new Float64Array(sums.n), linear = { place: [], weight: [] };
  const constant = (square, c) => { base[sums.place[c]] += sums.sign[c] * Math.sqrt(square); };
  for (let i = 0; i < counts[0]; i++) constant(f.weights[0], column + i);
  column = f.n_columns - f.constant - f.linear;
  for (let i = 0; i < f.linear; i++, column++) {
    linear.place.push(sums.place[column]);
    linear.weight.push(Math.sqrt(f.coefficients[1]) * sums.sign[column]);
  }
  for (let i = 0; i < f.constant; i++) constant(f.coefficients[0], column + i);
  const signsOfBlocks = signs(seed, nBlocks * parts * (order || width));
  return { order, parts, width, stride, nBlocks, signs: signsOfBlocks, lists: lists.filter(Boolean), linear, base };
}

// Hadamard transform of n numbers in place, two strides at a time.
function transform(x, start, n) {
  let h = 1;
  if (Math.log2(n) % 2) {
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

FEATURES.maclaurin = (f, sums) => {
  const plan = drawMaclaurin(f, sums), { order, parts, width, stride, linear } = plan, n = plan.nBlocks * parts;
  const numbers = new Float64Array(n * stride);
  const lists = plan.lists.map((l) => ({ ...l, at: Uint32Array.from(l.at), re: Uint32Array.from(l.re),
    im: Uint32Array.from(l.im), wre: Float64Array.from(l.wre), wim: Float64Array.from(l.wim) }));
  function project(x) {
    for (let b = 0; b < n; b++) {
      const at = b * stride;
      if (order) {
        for (let i = 0; i < width; i++) numbers[at + i] = plan.signs[at + i] * x[i];
        numbers.fill(0, at + width, at + order);
        transform(numbers, at, order);
      } else {
        let sum = 0;
        for (let i = 0; i < width; i++) sum += plan.signs[b * width + i] * x[i];
        numbers[b] = sum;
      }
    }
  }
  function add(row, total) {
    const x = f.scale === 1 ? row : row.map((v) => v * f.scale);
    project(x);
    for (const { degree, at, re, im, wre, wim } of lists)
      for (let i = 0, p = 0; i < re.length; i++) {
        let a = numbers[at[p]], b = parts === 2 ? numbers[at[p] + stride] : 0;
        p++;
        for (let j = 1; j < degree; j++, p++) {
          const u = numbers[at[p]], v = parts === 2 ? numbers[at[p] + stride] : 0, t = a * u - b * v;
          b = a * v + b * u;
          a = t;
        }
        total[re[i]] += wre[i] * a;
        if (parts === 2) total[im[i]] += wim[i] * b;
      }
    for (let i = 0; i < linear.place.length; i++) total[linear.place[i]] += linear.weight[i] * x[i];
  }
  return { add, base: plan.base, plan, scale: f.scale };
};

// Maclaurin features and the head in WebAssembly: four rows in the four lanes of a vector.
function loadSimd(model, bytes) {
  const { order, parts, width, scale, nBlocks, flips, lists, linear } = model.features, { n, k } = model;
  if (!order || !nBlocks) return null;
  const { transform: hadamard, flip, products, multiply, memory } =
    new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  // Room for everything, in numbers. Blocks have two parts: an imaginary one of zeros if weights are real.
  let size = 64;
  const take = (numbers) => (size += 4 * ceil(numbers / 4)) - 4 * ceil(numbers / 4);
  const x = take(4 * width), blocks = take(8 * nBlocks * order), sums = take(4 * n), out = take(4 * k);
  const signsAt = take(flips.length), head = take(k * n);
  const records = lists.map((l) => take((l.degree + 4) * l.to.length / 2));
  memory.grow(ceil(size / 16384));
  const F = new Float32Array(memory.buffer), U = new Uint32Array(memory.buffer);
  F.set(flips, signsAt);
  F.set(model.head, head);
  lists.forEach(({ degree, at, to, weights }, which) => {
    let p = records[which];
    for (let i = 0; i < to.length; i += 2) {
      for (const a of at.slice(i / 2 * degree, (i / 2 + 1) * degree))
        U[p++] = 4 * blocks + 16 * (parts === 2 ? a : a + order * floor(a / order));
      for (let j = 0; j < 2; j++) {
        U[p + j] = 4 * sums + 16 * to[i + j];
        F[p + 2 + j] = weights[i + j];
      }
      p += 4;
    }
  });
  return (rows) => {
    rows.forEach((row, r) => model.shape(row).forEach((v, i) => { F[x + 4 * i + r] = v * scale; }));
    for (let b = 0; b < nBlocks * parts; b++) {
      const block = blocks + 4 * order * (2 / parts) * b;
      flip(4 * block, 4 * x, 4 * (signsAt + b * order), width);
      F.fill(0, block + 4 * width, block + 4 * order);
      hadamard(4 * block, order);
    }
    F.fill(0, sums, sums + 4 * n);
    lists.forEach(({ degree, to }, i) =>
      products(4 * records[i], 4 * (records[i] + (degree + 4) * to.length / 2), degree, 16 * order));
    linear.forEach(([c, weight], i) => {
      for (let r = 0; r < 4; r++) F[sums + 4 * c + r] += weight * F[x + 4 * i + r];
    });
    multiply(4 * out, 4 * head, 4 * sums, n, k);
    return rows.map((row, r) => model.start(row).map((b, c) => F[out + 4 * c + r] + b));
  };
}

// Maclaurin features and the head in WebAssembly: four rows in the four lanes of a vector.
function loadSimd(model, bytes) {
  const { plan, scale } = model.features, { n, k } = model;
  if (!plan || !plan.order || !plan.nBlocks) return null;
  const { transform: hadamard, flip, products, multiply, memory } =
    new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  const { order, parts, width, nBlocks, lists, linear } = plan, nSigns = nBlocks * parts * order;
  // Room for everything, in vectors of 16 bytes. Blocks have two parts: an imaginary one of zeros if weights are real.
  let size = 64;
  const take = (numbers) => { const at = size; size += 4 * Math.ceil(numbers / 4); return at; };
  const at = { x: take(4 * width), blocks: take(8 * nBlocks * order), sums: take(4 * n), out: take(4 * k),
    signs: take(nSigns), head: take(k * n), lists: lists.map((l) => take((l.degree + 4) * l.re.length)) };
  memory.grow(Math.ceil(size / 16384));
  const F = new Float32Array(memory.buffer), U = new Uint32Array(memory.buffer);
  F.set(plan.signs, at.signs);
  F.set(model.head, at.head);
  const place = (i) => 4 * at.blocks + 16 * (parts === 2 ? i : 2 * order * Math.floor(i / order) + i % order);
  lists.forEach((l, which) => {
    let p = at.lists[which];
    for (let i = 0; i < l.re.length; i++) {
      for (let j = 0; j < l.degree; j++) U[p++] = place(l.at[i * l.degree + j]);
      U[p++] = 4 * at.sums + 16 * l.re[i];
      U[p++] = 4 * at.sums + 16 * (parts === 2 ? l.im[i] : l.re[i]);
      F[p++] = l.wre[i];
      F[p++] = parts === 2 ? l.wim[i] : 0;
    }
  });
  return (rows) => {
    rows.forEach((row, r) => {
      const x = model.shape(row);
      for (let i = 0; i < width; i++) F[at.x + 4 * i + r] = x[i] * scale;
    });
    for (let b = 0; b < nBlocks * parts; b++) {
      const block = at.blocks + 4 * order * (2 / parts) * b;
      flip(4 * block, 4 * at.x, 4 * (at.signs + b * order), width);
      F.fill(0, block + 4 * width, block + 4 * order);
      hadamard(4 * block, order);
    }
    F.fill(0, at.sums, at.sums + 4 * n);
    lists.forEach((l, i) => {
      products(4 * at.lists[i], 4 * (at.lists[i] + (l.degree + 4) * l.re.length), l.degree, 16 * order);
    });
    for (let i = 0; i < linear.place.length; i++)
      for (let r = 0; r < 4; r++) F[at.sums + 4 * linear.place[i] + r] += linear.weight[i] * F[at.x + 4 * i + r];
    multiply(4 * at.out, 4 * at.head, 4 * at.sums, n, k);
    return rows.map((_, r) => model.bias.map((b, c) => F[at.out + 4 * c + r] + b));
  };
}

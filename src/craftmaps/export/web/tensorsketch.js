// Cosines and sines of the turns of a circle cut into n.
const TURNS = {};
function turns(n) {
  const angle = (_, i) => 2 * Math.PI * i / n, t = TURNS[n] ??= { c: new Float64Array(n).map(angle) };
  if (!t.s) { t.s = t.c.map(Math.sin); t.c = t.c.map(Math.cos); }
  return t;
}

// Fourier transform of a complex vector, of any length: by its smallest factor, then the rest.
function fourier(re, im, sign) {
  const n = re.length;
  let p = 2;
  while (n % p && p * p <= n) p++;
  if (n % p) p = n;
  if (n === 1) return [re, im];
  const m = n / p, parts = [];
  for (let j = 0; j < p; j++) {
    const a = new Float64Array(m), b = new Float64Array(m);
    for (let i = 0; i < m; i++) { a[i] = re[i * p + j]; b[i] = im[i * p + j]; }
    parts.push(fourier(a, b, sign));
  }
  const { c, s } = turns(n), outRe = new Float64Array(n), outIm = new Float64Array(n);
  for (let j = 0; j < p; j++)
    for (let k = 0; k < n; k++) {
      const at = j * k % n, a = parts[j][0][k % m], b = parts[j][1][k % m], t = sign * s[at];
      outRe[k] += a * c[at] - b * t;
      outIm[k] += a * t + b * c[at];
    }
  return [outRe, outIm];
}

// TensorSketch: count sketches convolved, by products of their spectra.
FEATURES.tensorsketch = (f, sums) => {
  const { degree, n_columns: n, width } = f;
  const bucket = integers(f.seed, 'buckets', degree * (width + 1), n), sign = signs(f.seed, degree * (width + 1));
  function add(x, total) {
    let re = new Float64Array(n).fill(1), im = new Float64Array(n);
    for (let j = 0; j < degree; j++) {
      const sketch = new Float64Array(n);
      for (let i = 0, at = j * (width + 1); i <= width; i++, at++)
        sketch[bucket[at]] += sign[at] * (i < width ? f.scale * x[i] : f.constant);
      const [a, b] = fourier(sketch, new Float64Array(n), -1);
      const t = re.map((v, k) => v * a[k] - im[k] * b[k]);
      im = re.map((v, k) => v * b[k] + im[k] * a[k]);
      re = t;
    }
    fourier(re, im, 1)[0].forEach((v, c) => { total[sums.place[c]] += sums.sign[c] * v / n; });
  }
  return { add };
};

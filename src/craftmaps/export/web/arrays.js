const { abs, ceil, floor, imul, log2, max, min, round, sqrt } = Math;

// Arrays as they are stored: bytes in base 64, little-endian, perhaps with a factor for each row.
function half(h) {
  const e = h >> 10 & 31, m = h & 1023;
  return (h & 32768 ? -1 : 1) * (e ? (1 + m / 1024) * 2 ** (e - 15) : m * 2 ** -24);
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function numbersOf(a) {
  if (!a) return null;
  const types = { float16: Uint16Array, float32: Float32Array, float64: Float64Array, int8: Int8Array };
  const stored = new (types[a.type] || Uint8Array)(bytesOf(a.data).buffer);
  const x = Float64Array.from(stored, a.type === 'float16' ? half : Number);
  if (a.scale) {
    const n = x.length / a.scale.length;
    for (let i = 0; i < x.length; i++) x[i] *= a.scale[floor(i / n)];
  }
  return x;
}

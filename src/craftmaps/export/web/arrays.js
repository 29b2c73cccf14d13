const { abs, ceil, floor, imul, log2, max, min, round, sqrt } = Math;

// Arrays as they are stored: bytes in base 64, little-endian, perhaps with a factor for each row.
function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function numbersOf(a) {
  if (!a) return null;
  const types = { int16: Int16Array, float32: Float32Array, float64: Float64Array, int8: Int8Array };
  const x = Float64Array.from(new (types[a.type] || Uint8Array)(bytesOf(a.data).buffer));
  if (a.scale) {
    const n = x.length / a.scale.length;
    for (let i = 0; i < x.length; i++) x[i] *= a.scale[floor(i / n)];
  }
  return x;
}

// Outputs for bits compared with code words: by the signs of bits, or by their hinge losses.
function decoded(d, outputs) {
  const words = d.numbers ??= numbersOf(d.words), [k, nBits] = d.words.shape, bits = new Float64Array(nBits);
  for (let c = 0; c < k; c++) for (let b = 0; b < nBits; b++) bits[b] += outputs[c] * words[c * nBits + b];
  const scores = outputs.map((_, c) => {
    let sum = 0;
    for (let b = 0; b < nBits; b++) {
      const word = words[c * nBits + b];
      sum += d.kind === 'hamming' ? word * Math.sign(bits[b]) : -Math.max(1 - bits[b] * word, 0);
    }
    return d.kind === 'hamming' ? (sum / nBits - 1) / 2 : sum / nBits;
  });
  if (!d.matrix) return scores;
  const matrix = numbersOf(d.matrix), offset = numbersOf(d.offset);
  return scores.map((_, c) => scores.reduce((sum, s, i) => sum + s * matrix[i * k + c], offset[c]));
}

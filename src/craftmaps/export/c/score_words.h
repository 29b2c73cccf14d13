/* Outputs are compared with code words: by the signs of bits, or by their hinge losses. */
static inline void craft_score(float *scores) {
  static float output[CRAFT_OUTPUTS], bit[CRAFT_BITS];
  for (int c = 0; c < CRAFT_OUTPUTS; c++) output[c] = craft_output(c) + (float)craft_bias[c];
  for (int b = 0; b < CRAFT_BITS; b++) {
    bit[b] = 0;
    for (int c = 0; c < CRAFT_OUTPUTS; c++) bit[b] += output[c] * craft_word[c][b];
  }
  for (int c = 0; c < CRAFT_OUTPUTS; c++) {
    float sum = 0;
    for (int b = 0; b < CRAFT_BITS; b++) {
#if CRAFT_HAMMING
      sum += craft_word[c][b] * (float)((bit[b] > 0) - (bit[b] < 0));
#else
      sum -= fmaxf(1 - bit[b] * craft_word[c][b], 0);
#endif
    }
    scores[c] = CRAFT_HAMMING ? (sum / CRAFT_BITS - 1) / 2 : sum / CRAFT_BITS;
  }
#if CRAFT_CORRECTED
  memcpy(output, scores, sizeof output);
  for (int c = 0; c < CRAFT_OUTPUTS; c++) {
    scores[c] = craft_offset[c];
    for (int d = 0; d < CRAFT_OUTPUTS; d++) scores[c] += output[d] * craft_matrix[d][c];
  }
#endif
}

static inline void craft_score(float *scores) {
  for (int c = 0; c < CRAFT_OUTPUTS; c++) scores[c] = craft_output(c) + (float)craft_bias[c];
}

/* Predict the class of a row of CRAFT_FEATURES and the scores of all CRAFT_OUTPUTS classes; return the number of the
   class, whose name is craft_label[number], or -1 if the row has NaN or infinity. */
static inline int craft_predict(const float *row, float *scores) {
  int best = 0;
  if (!craft_map(row)) return -1;
  craft_score(scores);
  for (int c = 1; c < CRAFT_OUTPUTS; c++)
    if (scores[c] > scores[best]) best = c;
  return best;
}

/* Probabilities of the classes from their scores. */
static inline void craft_probabilities(const float *scores, float *probabilities) {
  float top = scores[0], sum = 0;
  for (int c = 1; c < CRAFT_OUTPUTS; c++) top = scores[c] > top ? scores[c] : top;
  for (int c = 0; c < CRAFT_OUTPUTS; c++) sum += probabilities[c] = expf(craft_confidence * (scores[c] - top));
  for (int c = 0; c < CRAFT_OUTPUTS; c++) probabilities[c] /= sum;
}

/* Predict CRAFT_OUTPUTS numbers for a row of CRAFT_FEATURES; return 0, or -1 if the row has NaN or infinity. */
static inline int craft_predict(const float *row, double *numbers) {
  if (!craft_map(row)) return -1;
  for (int c = 0; c < CRAFT_OUTPUTS; c++) numbers[c] = craft_bias[c] + (double)craft_output(c);
  return 0;
}

/* Fill craft_sum from a row; return 0 if the row has a number that is not finite. */
static inline int craft_map(const float *row) {
  for (int i = 0; i < CRAFT_FEATURES; i++)
    if (!isfinite(row[i])) return 0;
  memset(craft_sum, 0, sizeof craft_sum);
  craft_shape(row);
  craft_add_features(craft_x);
  return 1;
}

static inline float craft_output(int c) {
  float sum = 0;
  for (long i = 0; i < CRAFT_SUMS; i++) sum += (float)craft_head[c][i] * craft_sum[i];
  sum *= craft_head_scale[c];
#ifdef CRAFT_LINEAR_COLUMNS
  for (int i = 0; i < CRAFT_LINEAR_COLUMNS; i++) sum += craft_linear_weight[c][i] * craft_linear_column[i];
#endif
  return sum;
}

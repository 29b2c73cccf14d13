/* Columns that are numbers, and behind them an indicator for each level of the others. */
static inline void craft_levels(float *x, const float *from, const int32_t *numbers, const int32_t *columns,
                                const float *levels, int n_numbers, int n_levels) {
  for (int i = 0; i < n_numbers; i++) x[i] = from[numbers[i]];
  for (int i = 0; i < n_levels; i++) x[n_numbers + i] = from[columns[i]] == levels[i] ? 1 : 0;
}

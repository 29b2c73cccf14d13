/* Interpolate each column in its table; beyond the ends scores are constant. */
static inline void craft_look_up(float *x, const int32_t *sizes, const craft_knot *knots, const float *scores, int n) {
  for (int i = 0; i < n; knots += sizes[i], scores += sizes[i], i++) {
    int low = 0, high = sizes[i] - 1;
    craft_knot v = x[i];
    v = v < knots[0] ? knots[0] : v > knots[high] ? knots[high] : v;
    while (high - low > 1) {
      int middle = (low + high) / 2;
      if (knots[middle] <= v) low = middle;
      else high = middle;
    }
    craft_knot width = knots[high] - knots[low];
    x[i] = scores[low];
    if (width > 0) x[i] += (float)((v - knots[low]) / width) * (scores[high] - scores[low]);
  }
}

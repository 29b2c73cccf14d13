// Columns interpolated in tables, one for each; beyond the ends scores are constant.
STEPS.table = (step) => {
  const knots = numbersOf(step.knots), scores = numbersOf(step.scores);
  let end = 0;
  const ends = step.sizes.map((size) => end += size);
  return (x) => x.map((v, i) => {
    let low = ends[i] - step.sizes[i], high = ends[i] - 1;
    v = min(max(v, knots[low]), knots[high]);
    while (high - low > 1) {
      const middle = low + high >> 1;
      if (knots[middle] <= v) low = middle; else high = middle;
    }
    const width = knots[high] - knots[low];
    return width > 0 ? scores[low] + (v - knots[low]) / width * (scores[high] - scores[low]) : scores[low];
  });
};

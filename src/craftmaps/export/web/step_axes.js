// Products with axes.
STEPS.axes = (step) => {
  const subtract = numbersOf(step.subtract), multiply = numbersOf(step.multiply), axes = numbersOf(step.axes);
  const [width, n] = step.axes.shape;
  return (row) => {
    const x = row.map((v, i) => (v - subtract[i]) * multiply[i]), out = new Float64Array(width);
    for (let a = 0, at = 0; a < width; a++) {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += axes[at++] * x[i];
      out[a] = sum;
    }
    return out;
  };
};

// Products with axes, whose columns have powers of two taken out.
STEPS.axes = (step) => {
  const powers = numbersOf(step.exponents).map((e) => 2 ** e), axes = numbersOf(step.axes), n = powers.length;
  return (row) => {
    const x = row.map((v, i) => v * powers[i]);
    return Float64Array.from(step.offset, (offset, a) => {
      let sum = -offset;
      for (let i = 0, at = a * n; i < n; i++) sum += axes[at + i] * x[i];
      return sum;
    });
  };
};

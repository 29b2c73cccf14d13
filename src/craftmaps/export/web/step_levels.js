// Columns that are numbers, and behind them an indicator for each level of the others.
STEPS.levels = (step) => {
  const levels = numbersOf(step.levels);
  return (x) => Float64Array.from([
    ...step.numbers.map((j) => x[j]),
    ...step.columns.map((j, i) => x[j] === levels[i] ? 1 : 0),
  ]);
};

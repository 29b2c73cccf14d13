// One factor for all columns.
STEPS.multiply = (step) => {
  return (x) => x.map((v) => v * step.factor);
};

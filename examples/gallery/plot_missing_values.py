"""
A table with categories and missing values
==========================================

Text, categories and gaps need no preparation: `streams.of` turns a data frame into rows, and the model keeps the rule.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas

from craftmaps import CraftRegressor, streams

rng = np.random.default_rng(0)
n_rows = 4000
table = pandas.DataFrame(
    {
        "size": rng.gamma(4, 20, n_rows),
        "age": rng.integers(0, 90, n_rows).astype(float),
        "city": rng.choice(["Aachen", "Bern", "Cork"], n_rows),
        "garden": rng.choice(["yes", "no", None], n_rows),
    }
)
level = table["city"].map({"Aachen": 2.0, "Bern": 5.0, "Cork": 3.0})
table["price"] = level * table["size"] * (1 - table["age"] / 200) + 40 * (table["garden"] == "yes")
table["price"] += 20 * rng.normal(size=n_rows)
table.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
print(table.head(3))

# %%
# The price is a product of columns, which a linear model cannot express and a kernel of degree 3 can.

train, test = table[:3000], table[3000:]
model = CraftRegressor(n_components=512, random_state=0).fit_stream(streams.of(train, "price"))
print(f"R2 on test rows: {model.score(test.drop(columns='price'), test['price']):.3f}")

# %%
# The line is where predictions and prices are equal. The noise of the prices has a deviation of 20.

predicted = model.predict(test.drop(columns="price"))
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.scatter(test["price"], predicted, s=6, c=test["age"].isna(), cmap="coolwarm", alpha=0.7)
ax.axline((0, 0), slope=1, color="grey", linewidth=1)
ax.set(xlabel="price", ylabel="predicted price", title="red: the age is missing")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Rows to predict are data frames with the same columns, in any order, with or without the target.

print(model.predict(test[["city", "garden", "age", "size"]][:3]).round(1))

"""Compares many random pairs: ``python -m comparisons [COUNT] [SEED]``, in the folder tests."""

import sys
from random import Random

from comparisons.pairs import check_pairs

count, seed = (int(word) for word in (*sys.argv[1:], "10000", "1")[:2])
tally = check_pairs(Random(seed), count)
print(f"{count:,} pairs, {tally.payloads:,} payloads, of which {tally.refuting:,} tell them apart")
for key, number in sorted(tally.levels.items()):
    print(f"  {': '.join(key)}: {number:,}")
print(f"  decided: {tally.decided:.2%}")
for reason, number in tally.reasons.most_common(12):
    print(f"  {number:6,} {reason}")
print(f"refuted verdicts: {len(tally.wrong)}, disagreements: {len(tally.disagreements)}")
for refuted in (*tally.wrong, *tally.disagreements)[:20]:
    print(f"  {refuted}")
sys.exit(bool(tally.wrong or tally.disagreements))

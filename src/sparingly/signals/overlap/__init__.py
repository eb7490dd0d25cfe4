"""How much texts overlap: BLEU, chrF and Dice between the outputs of an item, bigrams between items.

Every output is tokenised and its n-grams are counted once, however many others it is compared with.
"""

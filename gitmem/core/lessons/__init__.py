"""Lessons: experience that fades, recurs and becomes a rule. Pure, and in integers only.

Events are facts and stay. What this package makes of them is a view of one moment, under one policy: which lessons are
near, which have faded from sight, which say the same, which became rules. Asked again with the same events, moment
and policy, it answers the same.
"""

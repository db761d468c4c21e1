"""reland-bench, in parts: what a history holds (`history`, `mining`), the gate over it (`replay`), cases made of its
verdicts (`lab`), and what comes of it all (`report`)."""

"""Factor graphs and cost networks in the formats UAI, WCSP and CFN."""

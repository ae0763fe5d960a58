"""Problems as people meet them, written as spaces and scores."""

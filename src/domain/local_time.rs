//! Times as people type them: RFC 3339 with an offset, or the site's own clocks (R5), dates for nights (R7).

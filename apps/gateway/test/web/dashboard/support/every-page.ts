/** Pages that every reader may see, as places. */
export const readerPages = [
  'overview',
  'overview?span=hour',
  'overview?span=day',
  'jobs',
  'scheduled',
  'retries',
  'dead',
  'functions',
  'queues',
  'workers',
  'nodes',
  'cron',
  'batches',
  'migrations',
]

/** Pages for every reader, the other pages of the menu, searches, and pages that have nothing to show. */
export const lists = [
  ...readerPages,
  'errors',
  'audit',
  'search?q=mail',
  'search?q=nothing-like-that',
  'jobs?function=nothing-like-that',
  'no-such-page',
]

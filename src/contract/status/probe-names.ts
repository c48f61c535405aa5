// Names, in lists, of the things that the installation's own probe has in the operator's account.

/** The name of the probe's token. */
export const PROBE_NAME = "The installation's own probe"

/** Its bucket, a name of the whole service. */
export const probeBucket = (account: string): string => `probe-${account.slice(-12)}`

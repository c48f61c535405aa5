// The name of the log that a path asks for.

export const askedOrigin = (parameters: Readonly<Record<string, string>>): string =>
  `${parameters['log']}/${parameters['shard']}`

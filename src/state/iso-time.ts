// Times that SQL puts into JSON.

/** SQL of a time as the API prints it: RFC 3339 in UTC with milliseconds. `time` is SQL of ours. */
export const sqlIsoTime = (time: string): string =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

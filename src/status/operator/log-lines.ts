// The last lines of the log for the operator, by level and subsystem. Loggers keep secrets out and mask tokens.
import {
  LOG_LEVELS,
  LOG_LINES_MAX,
  type LogLine,
  type OperatorLog,
  type OperatorLogQuery,
} from '#contract/operator/operator.ts'

/** `kept` are lines of JSON, the oldest first; null where the agent did not answer. */
export function logOfLines(
  kept: readonly string[] | null,
  { level = 'debug', subsystem, limit = LOG_LINES_MAX }: OperatorLogQuery,
): OperatorLog {
  const all = (kept ?? []).flatMap((line) => lineOf(line) ?? [])
  const least = LOG_LEVELS.indexOf(level)
  const wanted = all.filter(
    (line) =>
      LOG_LEVELS.indexOf(line.level) >= least &&
      (subsystem === undefined || line.subsystem === subsystem),
  )
  return {
    object: 'operator_log',
    subsystems: [...new Set(all.map((line) => line.subsystem))].toSorted(),
    lines: kept === null ? null : wanted.slice(-limit),
  }
}

/** Undefined for a line that no logger wrote. */
function lineOf(text: string): LogLine | undefined {
  try {
    const { time, level, subsystem, message, ...fields } = JSON.parse(text) as Record<
      string,
      unknown
    >
    const known = LOG_LEVELS.find((one) => one === level)
    if (known === undefined) return undefined
    return {
      time: String(time),
      level: known,
      subsystem: String(subsystem),
      message: String(message),
      fields: Object.keys(fields).length === 0 ? '' : JSON.stringify(fields),
    }
  } catch {
    return undefined
  }
}

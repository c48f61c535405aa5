// ergon db query: one statement that reads, and its rows as a table, JSON or CSV.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { databasePath } from '#cli/databases.ts'
import { CommandError, EXIT, print, printJson, table, tell } from '#cli/output.ts'
import type { databaseQueryReply } from '#contract/databases/databases.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type Row = readonly (string | null)[]
type Result = ReplyOf<typeof databaseQueryReply>

export async function run({ options, words: [name = '', sql = ''] }: CommandCall): Promise<void> {
  const rows = textOption(options, 'maxRows')
  if (rows !== undefined && !/^\d{1,9}$/.test(rows))
    throw new CommandError(`Not a number of rows: "${rows}"`, EXIT.usage, '--max-rows 100')
  const body = { sql, ...(rows !== undefined && { max_rows: Number(rows) }) }
  const { text, headers } = await apiPost(options, `${databasePath(name)}/query`, body)
  const result = replyOf<typeof databaseQueryReply>({ text })
  if (options.json) return printJson(result)
  const names = result.columns.map((column) => column.name)
  if (options['csv'] === true) [names, ...result.rows].forEach((row) => print(csvLine(row)))
  else if (names.length > 0)
    print(
      table(
        names,
        result.rows.map((row) => row.map((value) => value ?? 'null')),
      ),
    )
  tellCost(result, headers['x-energy-joules'])
}

function tellCost(
  { row_count: count, cut, duration_ms: ms, server_j: server }: Result,
  own: string | string[] | undefined,
) {
  const rows = `${count} ${count === 1 ? 'row' : 'rows'}`
  tell(
    `${rows}, ${ms.toFixed(1)} ms, ${String(own ?? '?')} J and at most ${server} J of the server while it ran`,
  )
  if (cut) tell('There are more rows: ask for more with --max-rows, or for less with a condition')
}

/** As RFC 4180 has it; null is an empty field, an empty text is quoted. */
const csvLine = (row: Row): string =>
  row
    .map((value) => {
      if (value === null) return ''
      return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
    })
    .join(',')

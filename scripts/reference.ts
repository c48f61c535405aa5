// The reference pages in Markdown, made from the tables that the product itself runs by.
import { z } from 'zod'
import { S3_OPERATIONS, type S3Operation } from '#contract/storage/s3-operations.ts'
import { COMMANDS } from '#cli/commands.ts'
import { SETTINGS } from '#config/settings.ts'
import { ERRORS } from '#contract/errors.ts'
import type { EventTable } from '#contract/event.ts'
import { EVENTS } from '#contract/events.ts'
import { OPERATOR_ERRORS } from '#contract/operator/operator-errors.ts'
import { beyondText } from './limits/limit.ts'
import { LIMITS } from './limits/limits.ts'

const NOTE = (source: string) => `<!-- Printed from ${source} by \`npm run generate\`. -->`

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')

const code = (text: string) => `\`${text}\``

export function errorsPage(): string {
  const rows = Object.entries(ERRORS)
    .toSorted(([a, x], [b, y]) => x.status - y.status || (a < b ? -1 : 1))
    .map(([name, { status, fault, type, help }]) => [
      String(status),
      code(name),
      fault,
      code(type),
      help,
    ])
  const operator = Object.entries(OPERATOR_ERRORS).map(([name, { help }]) => [code(name), help])
  return `${NOTE('src/contract/errors.ts and operator/operator-errors.ts')}

# Errors

## Of the API

\`application/problem+json\` (RFC 9457): \`type\` is \`urn:ergon:error:<code>\`, \`instance\` the request id; the field \`error\` is OpenAI's error object, so SDKs raise their own class. Whose fault it is: of the caller, of the account (money, limits) or of the service.

${table(['Status', 'Code', 'Fault of', 'OpenAI type', 'What to do'], rows)}

## Of the operator

These end a start, a command or a process, and stand in its last line or in the log.

${table(['Code', 'What it means and what to do'], operator)}
`
}

type Field = { readonly type?: string; readonly enum?: readonly string[] }

/** The fields of an object, by their JSON types. */
function subschemasOf(schema: z.ZodObject): string[][] {
  const { properties = {} } = z.toJSONSchema(schema) as { properties?: Record<string, Field> }
  return Object.entries(properties).map(([name, { type = '', enum: words }]) => [
    code(name),
    words === undefined ? type : words.map(code).join(', '),
  ])
}

export function eventsPage(): string {
  const sectionsOf = (events: EventTable) =>
    Object.entries(events)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([type, { help, data }]) =>
          `## ${type}\n\n${help}\n\n${table(['Field', 'Type'], subschemasOf(data))}\n`,
      )
      .join('\n')
  return `${NOTE('src/contract/events.ts')}

# Events

Facts about an account, in the order of \`sequence\`. Each is written in the transaction of its cause. [Webhooks](../guide/webhooks.md) deliver them; \`GET /v1/events\` lists them.

${sectionsOf(EVENTS)}`
}

/** The form of a request for the operation: method, level, subresource and condition. */
const requestOf = ({ method, level, subresource, when }: S3Operation): string => {
  const parameter = subresource === null ? '' : `?${subresource}`
  return `${code(`${method} ${level}${parameter}`)}${when === undefined ? '' : `, ${when}`}`
}

export function s3OperationsPage(): string {
  const rows = Object.entries(S3_OPERATIONS).map(([name, row]) => [
    code(name),
    requestOf(row),
    row.action === null ? '' : code(`s3:${row.action}`),
    row.scope ?? '',
    row.answer === 'served' ? 'served' : code(row.answer),
  ])
  return `${NOTE('src/contract/storage/s3-operations.ts')}

# S3 operations

Every operation of the S3 protocol: the request that names it, its action in policies, the scope that a token needs, and the answer. [Object storage](../guide/storage.md) describes the service.

${table(['Operation', 'Request', 'Action', 'Scope', 'Answer'], rows)}
`
}

export function limitsPage(): string {
  const sections = LIMITS.map(({ title, intro, limits }) => {
    const rows = limits.map(([what, figure, beyond]) => [what, figure, beyondText(beyond)])
    const rowsText = table(['What', 'Limit', 'Beyond it'], rows)
    return `## ${title}\n\n${intro === undefined ? '' : `${intro}\n\n`}${rowsText}\n`
  })
  return `${NOTE('the constants that requests are refused by, as scripts/limits/ names them')}

# Limits

What a request may be and ask for. Defaults, where a setting is named. [Errors](errors.md) says what to do about each code.

${sections.join('\n')}`
}

export function cliPage(): string {
  const sections = COMMANDS.map(({ usage, help, options = [] }) => {
    const list = options.map(([flags, text]) => [code(flags), text])
    return `## ergon ${usage}\n\n${help}.\n${list.length === 0 ? '' : `\n${table(['Option', 'What it is'], list)}\n`}`
  })
  return `${NOTE('src/cli/commands.ts')}

# The command line

\`src/cli/ergon.mjs self install\` makes \`ergon\` a command of every folder. Every command takes \`--json\` (print JSON; an error is one JSON object, \`{"error":{"code","message","next","exit_code"}}\`, in the last line of stderr), \`--base-url <url>\` (the service: \`localhost:8080\`, \`https://ergon.example\`, also with \`/v1\` at its end) and \`--data <folder>\` (a service on this machine). Without them it is \`ERGON_BASE_URL\` or \`ERGON_DATA\`, else \`.ergon\` in the current folder, else the service of \`ergon login\`, else \`.ergon\` in the project's folder. The token comes from \`ERGON_TOKEN\` or \`ergon login\`, never from a flag.

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 no or wrong token, 5 payment needed, 6 a receipt does not hold; a storage command that SIGHUP, SIGINT or SIGTERM ended: 129, 130, 143.

${sections.join('\n')}`
}

export const settingsTable = (): string =>
  table(
    ['Environment', 'Flag', 'What it is'],
    Object.values(SETTINGS).map(({ name, flag, help }) => [code(name), code(`--${flag}`), help]),
  )

export const settingsPage = (): string => `${NOTE('src/config/settings.ts')}

# Settings

Of \`npm start\`. A flag wins over the environment: \`npm start -- --port 9000\`. Every fault is reported at once, by name, before anything starts.

Every user of a machine can read its command lines. So a flag that ends in \`-file\` names a file that holds the value in one line, and an address with a password is taken from the environment only.

${settingsTable()}
`

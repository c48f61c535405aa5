// The keyword `format`: what each name asserts, as a pattern. A pattern may be narrower than its format,
// never wider: whatever it lets a model write is valid.

const HEX = '[0-9a-fA-F]'
const YEAR = '[0-9]{4}'
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
const DATE =
  `(?:${YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)` +
  `|02-(?:0[1-9]|1[0-9]|2[0-8]))|${LEAP_YEAR}-02-29)`
const HOUR = '(?:[01][0-9]|2[0-3])'
const TIME = `${HOUR}:[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-]${HOUR}:[0-5][0-9])`

const N = '[0-9]{1,9}'
const SECONDS = `${N}S`
const MINUTES = `${N}M(?:${SECONDS})?`
const HOURS = `${N}H(?:${MINUTES})?`
const CLOCK = `T(?:${HOURS}|${MINUTES}|${SECONDS})`
const DAYS = `${N}D`
const MONTHS = `${N}M(?:${DAYS})?`
const YEARS = `${N}Y(?:${MONTHS})?`
/** The grammar of RFC 3339, appendix A. */
const DURATION = `P(?:(?:${YEARS}|${MONTHS}|${DAYS})(?:${CLOCK})?|${CLOCK}|${N}W)`

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const HOST = `(?:${LABEL}\\.)*${LABEL}`
const DOMAIN = `(?:${LABEL}\\.)+[A-Za-z]{2,24}`
const LOCAL = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
/** The part before the sign has at most 64 characters. */
const EMAIL = `(?=[^@]{1,64}@)${LOCAL}+(?:\\.${LOCAL}+)*@${DOMAIN}`

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const GROUP = `${HEX}{1,4}`
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  `(?:${GROUP}:){1,7}:`,
  ...[1, 2, 3, 4, 5, 6].map((after) => `(?:${GROUP}:){1,${7 - after}}(?::${GROUP}){1,${after}}`),
  `:(?::${GROUP}){1,7}`,
  '::',
].join('|')

const IN_PATH = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
const AUTHORITY = `(?:[A-Za-z0-9._~-]+@)?${HOST}(?::[0-9]{1,4})?`
const AFTER_HOST = `(?:/${IN_PATH}*)*(?:\\?(?:${IN_PATH}|[/?])*)?(?:#(?:${IN_PATH}|[/?])*)?`
const URI =
  `(?:(?:https?|wss?|ftps?|sftp|ssh|git|s3|file|redis|amqp|mqtt|postgres|postgresql|mysql|mongodb)://` +
  `${AUTHORITY}${AFTER_HOST}|(?:mailto|tel|urn|data|sms|geo):${IN_PATH}(?:${IN_PATH}|/)*)`

const whole = (pattern: string): string => `^${pattern}$`
const wholeOf = (alternatives: string): string => `^(?:${alternatives})$`

export const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', whole(DATE)],
  ['time', whole(TIME)],
  ['date-time', whole(`${DATE}T${TIME}`)],
  ['duration', whole(DURATION)],
  ['uuid', whole(`${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`)],
  ['email', whole(EMAIL)],
  ['idn-email', whole(EMAIL)],
  ['hostname', whole(HOST)],
  ['idn-hostname', whole(HOST)],
  ['ipv4', whole(`${OCTET}(?:\\.${OCTET}){3}`)],
  ['ipv6', wholeOf(IPV6)],
  ['uri', whole(URI)],
  ['iri', whole(URI)],
  ['uri-reference', wholeOf(`${URI}|(?:/${IN_PATH}+)+${AFTER_HOST}`)],
  ['iri-reference', wholeOf(`${URI}|(?:/${IN_PATH}+)+${AFTER_HOST}`)],
  ['json-pointer', whole('(?:/(?:[A-Za-z0-9_. -]|~[01])*)*')],
  ['byte', whole('(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?')],
])

/** Formats of OpenAPI's that say how a value is kept or shown, and nothing of its text. */
export const NAMES_ONLY: ReadonlySet<string> = new Set([
  'float',
  'double',
  'password',
  'binary',
  'decimal',
])

// docs/reference/limits.md: what a request may be and ask for. Each figure is the constant that the product
// refuses by, and each code one of the errors: neither can be another here than there.
import { ACCEPTANCES_MAX, ACCEPTANCES_PER_MINUTE } from '#accounts/operations/member-accept.ts'
import * as members from '#contract/members.ts'
import * as portal from '#contract/portal.ts'
import { ACCOUNT_TOKENS_MAX } from '#contract/token-limits.ts'
import {
  BROWSER_SESSIONS_MAX,
  SESSION_DAYS_MAX,
  SESSION_IDLE_HOURS,
  TOUCH_MINUTES,
} from '#identity/browser-sessions.ts'
import { PACE_PER_MINUTE } from '#portal/pace.ts'
import { SIGN_UPS_PER_DAY } from '#portal/sign-up-pace.ts'
import { WAITING } from '#portal/waiting.ts'
import { DIAGNOSTICS_MAX } from '#hcl/diagnostics.ts'
import {
  EVALUATION_STEPS_MAX,
  VALUE_DEPTH_MAX,
  VALUE_SIZE_MAX,
} from '#hcl/evaluate/evaluation-budget.ts'
import { SOURCE_LENGTH_MAX } from '#hcl/syntax/parse-body.ts'
import { NESTING_MAX } from '#hcl/syntax/syntax-reader.ts'
import { NUMBER_DIGITS_MAX } from '#hcl/values/numeric.ts'
import { RESOURCES_MAX } from '#stack/stack.ts'
import { ERRORS, type Code } from '#contract/errors.ts'
import * as deployments from '#contract/deployment-limits.ts'
import * as functions from '#contract/function-limits.ts'
import * as workloads from '#contract/workload-limits.ts'
import * as inference from '#contract/inference-limits.ts'
import * as databases from '#contract/databases.ts'
import * as live from '#contract/live.ts'
import { EXPIRES_MAX_S } from '#contract/presign.ts'
import { PAGE_LIMIT, PAGE_LIMIT_MAX } from '#contract/list-page.ts'
import { USAGE_DAYS_MAX, USAGE_STEP_DAYS_MAX } from '#contract/usage-range.ts'
import { ACCOUNT_REQUESTS_MAX } from '#http/account-load.ts'
import { SAID_BYTES_MAX } from '#databases/query/ask-database.ts'
import { FILES_MAX } from '#databases/size/full-words.ts'
import { STRANGERS_MAX } from '#databases/proxy/strangers.ts'
import * as logins from '#databases/proxy/login-limits.ts'
import { SESSIONS_MAX } from '#databases/agent-socket/session-shares.ts'
import { BODY_MEMORY_BYTES } from '#http/body-memory.ts'
import { KEPT_BODY_BYTES_MAX } from '#http/idempotency.ts'
import * as http from '#http/limits.ts'
import { ACCOUNT_RATE_PER_MINUTE } from '#http/request-rates.ts'
import { STEPS_MAX } from '#inference/engine/grammar/budget.ts'
import { WAYS_MAX, WORK_MAX } from '#inference/engine/grammar/deterministic-grammar.ts'
import { SYMBOLS_MAX } from '#inference/engine/grammar/grammar-rules.ts'
import { DEPTH_MAX } from '#inference/engine/grammar/budget.ts'
import { PROMPTS_MAX } from '#inference/engine/prompt-limit.ts'
import { ROUTED_REQUESTS_MAX } from '#ingress/turns.ts'
import { UPSTREAM_CONNECTIONS_MAX, TIMEOUTS } from '#inference/providers/upstream.ts'
import { PART_COUNT_MAX, PART_SIZE_MIN } from '#objects/create-uploads.ts'
import { UPLOAD_BYTES_MAX } from '#s3/body/plan.ts'
import { METADATA_BYTES_MAX } from '#s3/objects/headers.ts'
import { KEY_BYTES_MAX } from '#s3/target.ts'
import { XML_BYTES_MAX } from '#s3/xml/read.ts'
import * as payments from '#contract/payments.ts'
import { TOLERANCE_S } from '#payments/card/card-adapter.ts'
import { CARDS_PER_DAY_MAX, FAILURES_PER_DAY_MAX, METHODS_MAX } from '#payments/pace.ts'
import { TOTALS_ROWS_MAX } from '#compliance/build/totals.ts'
import { TRANSFERS_MAX } from '#ledger/account-transfers.ts'
import { WEBHOOK_BYTES_MAX } from '#payments/operations/payment-webhook.ts'
import { REFUSED_CLAIMS_PER_DAY_MAX } from '#payments/stablecoin/claim-pace.ts'
import { PAYMENTS_OPEN_MAX } from '#payments/begin-payment.ts'
import * as compliance from '#contract/compliance.ts'
import * as webhooks from '#contract/webhooks.ts'
import { ACCOUNT_AT_ONCE } from '#webhooks/delivery/dispatcher.ts'
import { AT_ONCE_MAX } from '#webhooks/delivery/lane.ts'
import { DELAYS_MS } from '#webhooks/delivery/schedule.ts'
import { ATTEMPT_MS } from '#webhooks/delivery/send.ts'

/** The code of a refusal, or in words what happens instead. */
type Beyond = { readonly code: Code } | { readonly words: string }
type Limit = readonly [what: string, figure: string, beyond: Beyond]
export type LimitSection = {
  readonly title: string
  readonly intro?: string
  readonly limits: readonly Limit[]
}

const code = (name: Code): Beyond => ({ code: name })
const words = (text: string): Beyond => ({ words: text })
const A_FAULT = words('exit 1 of `ergon validate`')
const s3 = (status: number, name: string): Beyond => words(`${status} \`${name}\``)
const count = (figure: number): string => figure.toLocaleString('en-US')
const seconds = (ms: number): string => `${count(ms / 1000)} s`
const UNITS = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
] as const
function bytes(figure: number): string {
  const [size, unit] = UNITS.find(([one]) => figure % one === 0) ?? [1, 'bytes']
  return `${count(figure / size)} ${unit}`
}

const REQUESTS: LimitSection = {
  title: 'Every request',
  limits: [
    ['request line and headers', bytes(http.HEADER_BYTES_MAX), code('headers_too_large')],
    ['headers', count(http.HEADERS_MAX), code('headers_too_large')],
    ['path and query', bytes(http.TARGET_BYTES_MAX), code('uri_too_long')],
    ['time for the headers', seconds(http.HEADERS_TIMEOUT_MS), code('request_timeout')],
    ['time for an answer', seconds(http.DEADLINE_MS), code('deadline_exceeded')],
    [
      'requests sent ahead on one connection',
      count(http.PIPELINED_MAX),
      words('the connection is closed'),
    ],
    [
      'connections, in each gateway',
      count(http.CONNECTIONS_MAX),
      words('the connection is closed'),
    ],
    [
      'connections of one network, in each gateway',
      count(http.CONNECTIONS_OF_NETWORK_MAX),
      words('the connection is closed'),
    ],
    [
      'a kept connection without a request',
      seconds(http.KEEP_ALIVE_MS),
      words('the connection is closed'),
    ],
    [
      'a connection on which nothing moves',
      seconds(http.SILENCE_MS_MAX),
      words('the connection is closed'),
    ],
    [
      'requests of one account at once, in each gateway (`ERGON_ACCOUNT_REQUESTS`); of strangers to its public buckets half as many',
      count(ACCOUNT_REQUESTS_MAX),
      code('too_many_requests'),
    ],
    [
      'requests of one account in a minute, to each gateway (`ERGON_ACCOUNT_RATE`); they come back evenly',
      count(ACCOUNT_RATE_PER_MINUTE),
      code('rate_limit_exceeded'),
    ],
    [
      'live streams of one account at once, in each gateway',
      count(live.LIVE_STREAMS_MAX),
      code('too_many_requests'),
    ],
    [
      'live streams of all accounts at once, in each gateway',
      count(live.LIVE_STREAMS_OF_ALL_MAX),
      code('overloaded'),
    ],
    [
      '`seconds` of a live stream; a client asks again with the last id',
      count(live.LIVE_SECONDS_MAX),
      code('invalid_request'),
    ],
    [
      `\`limit\` of a list; without it ${PAGE_LIMIT}, and \`next_cursor\` goes on`,
      count(PAGE_LIMIT_MAX),
      code('invalid_request'),
    ],
  ],
}

const MEMBERS: LimitSection = {
  title: 'Tokens and members of an account',
  limits: [
    ['valid tokens', count(ACCOUNT_TOKENS_MAX), code('too_many_tokens')],
    ['members, invited ones too', count(members.MEMBERS_MAX), code('too_many_members')],
    [
      'invitations that nobody has accepted',
      count(members.INVITATIONS_MAX),
      code('too_many_members'),
    ],
    ['days of an invitation', count(members.INVITATION_DAYS_MAX), code('invalid_request')],
    [
      'codes of invitations from one address (IPv6: from its first 64 bits) in a minute, to each gateway',
      count(ACCEPTANCES_PER_MINUTE),
      code('rate_limit_exceeded'),
    ],
    ['acceptances at once, in each gateway', count(ACCEPTANCES_MAX), code('overloaded')],
  ],
}

const PORTAL_LIMITS: LimitSection = {
  title: 'The portal',
  limits: [
    ['passkeys of a member', count(portal.PASSKEYS_MAX), code('too_many_passkeys')],
    ['transports of a passkey', count(portal.PASSKEY_TRANSPORTS_MAX), code('invalid_request')],
    ['recovery codes of a member', count(portal.RECOVERY_CODES), words('new ones replace them')],
    ['sessions of a member', count(BROWSER_SESSIONS_MAX), words('another one ends the oldest')],
    ['hours of a session without a request', count(SESSION_IDLE_HOURS), code('session_ended')],
    ['days of a session', count(SESSION_DAYS_MAX), code('session_ended')],
    ['minutes of a fresh touch', count(TOUCH_MINUTES), code('touch_required')],
    [
      'minutes in which a passkey that was asked for is used',
      count(portal.CHALLENGE_MINUTES),
      code('challenge_ended'),
    ],
    [
      'minutes in which a device or a command line is approved',
      count(portal.APPROVAL_MINUTES),
      code('login_not_found'),
    ],
    ...(
      [
        ['questions for a passkey', PACE_PER_MINUTE.options],
        ['answers of passkeys', PACE_PER_MINUTE.passkeys],
        ['recovery codes that are tried', PACE_PER_MINUTE.codes],
        ['requests of logins of command lines', PACE_PER_MINUTE.logins],
      ] as const
    ).map(([what, perMinute]): Limit => [
      `${what} from one address in a minute, at each gateway`,
      count(perMinute),
      code('rate_limit_exceeded'),
    ]),
    ...(
      [
        ['passkeys that wait for their use', WAITING.passkeys],
        ['logins of command lines that wait', WAITING.logins],
      ] as const
    ).flatMap(([what, { network, all }]): Limit[] => [
      [
        `${what}, of a network of 24 bits (IPv6: of 48)`,
        count(network),
        code('rate_limit_exceeded'),
      ],
      [`${what}, of all networks`, count(all), code('overloaded')],
    ]),
    [
      'accounts that a network of 24 bits (IPv6: of 48) makes in a day of UTC, where `ERGON_SIGN_UP` is `open` for other machines than this one',
      count(SIGN_UPS_PER_DAY),
      code('rate_limit_exceeded'),
    ],
    [
      'passkeys that wait for their use, of a session',
      count(WAITING.passkeys.session),
      code('rate_limit_exceeded'),
    ],
  ],
}

const BODIES: LimitSection = {
  title: 'A JSON body',
  limits: [
    ['size', bytes(http.JSON_BODY_BYTES_MAX), code('body_too_large')],
    ['nesting', count(http.JSON_DEPTH_MAX), code('invalid_json')],
    ['time to arrive', seconds(http.BODY_TIMEOUT_MS), code('request_timeout')],
    [
      `least mean size of its pieces, once ${bytes(http.PIECES_BYTES_FREE)} are there`,
      bytes(http.PIECE_BYTES_MIN),
      code('malformed_request'),
    ],
    [
      'all bodies that are read at once, in each gateway (`ERGON_BODY_MEMORY_MIB`)',
      bytes(BODY_MEMORY_BYTES),
      code('overloaded'),
    ],
    [
      'an answer that is kept for its `Idempotency-Key`, for a day',
      bytes(KEPT_BODY_BYTES_MAX),
      code('idempotency_answer_too_large'),
    ],
  ],
}

const INFERENCE: LimitSection = {
  title: 'Inference',
  intro:
    'What a model takes may be less: its context, what it supports, and for `completions` and schemas what is said here of models of our own.',
  limits: [
    ['`messages`', count(inference.MESSAGES_MAX), code('invalid_request')],
    ['parts of one message', count(inference.PARTS_MAX), code('invalid_request')],
    [
      '`tools`, and `tool_calls` of one message',
      count(inference.TOOLS_MAX),
      code('invalid_request'),
    ],
    ['`n`', count(inference.CHOICES_MAX), code('invalid_request')],
    ['`max_tokens`', count(inference.TOKENS_MAX), code('invalid_request')],
    [
      `\`stop\`, each of up to ${inference.STOP_LENGTH_MAX} characters`,
      count(inference.STOPS_MAX),
      code('invalid_request'),
    ],
    ['entries of `logit_bias`', count(inference.BIASES_MAX), code('invalid_request')],
    [
      '`input` of embeddings, `prompt` of completions',
      count(inference.INPUTS_MAX),
      code('invalid_request'),
    ],
    ['token ids of one of them', count(inference.IDS_MAX), code('invalid_request')],
    ['`prompt` of completions, of a model of our own', count(PROMPTS_MAX), code('invalid_request')],
    [
      'steps of making a grammar of all JSON Schemas of a request',
      count(STEPS_MAX),
      code('invalid_request'),
    ],
    ['nesting of a JSON Schema', count(DEPTH_MAX), code('invalid_request')],
    [
      'characters and items that the values of a JSON Schema may have at most, those without an end counted once',
      count(SYMBOLS_MAX),
      code('invalid_request'),
    ],
    [
      'characters, and kinds of value, of which any may come next under a JSON Schema',
      count(WAYS_MAX),
      code('invalid_request'),
    ],
    [
      'steps to tell the values of a JSON Schema apart; values that differ in their first property take few',
      count(WORK_MAX),
      code('invalid_request'),
    ],
    ['until a server is connected', seconds(TIMEOUTS.connectMs), code('upstream_failed')],
    [
      'until a model or server begins to answer',
      seconds(TIMEOUTS.headersMs),
      code('upstream_timeout'),
    ],
    ['between two pieces of its answer', seconds(TIMEOUTS.idleMs), code('upstream_timeout')],
    [
      'requests to one model at once, in each gateway; of one account as many as are still free',
      count(UPSTREAM_CONNECTIONS_MAX),
      code('overloaded'),
    ],
  ],
}

const ACCOUNT: LimitSection = {
  title: 'Usage and receipts',
  limits: [
    [
      'days between `from` and `to` of `GET /v1/usage`',
      count(USAGE_DAYS_MAX),
      code('invalid_request'),
    ],
    ['the same with `step=hour`', count(USAGE_STEP_DAYS_MAX.hour), code('invalid_request')],
    ['the same with `step=minute`', count(USAGE_STEP_DAYS_MAX.minute), code('invalid_request')],
    [
      'life of an address of `POST /v1/storage/presigned`',
      seconds(EXPIRES_MAX_S * 1000),
      code('invalid_request'),
    ],
  ],
}

const STORAGE: LimitSection = {
  title: 'Object storage',
  intro: 'As at AWS, in S3’s own codes.',
  limits: [
    ['body of one PUT or one part', bytes(UPLOAD_BYTES_MAX), s3(400, 'EntityTooLarge')],
    ['parts of an upload', count(PART_COUNT_MAX), s3(400, 'InvalidArgument')],
    ['least size of a part that is not the last', bytes(PART_SIZE_MIN), s3(400, 'EntityTooSmall')],
    ['key', bytes(KEY_BYTES_MAX), s3(400, 'KeyTooLongError')],
    ['user metadata', bytes(METADATA_BYTES_MAX), s3(400, 'MetadataTooLarge')],
    ['an XML document', bytes(XML_BYTES_MAX), s3(400, 'MaxMessageLengthExceeded')],
    [
      'time for an object, in or out',
      seconds(http.TRANSFER_DEADLINE_MS),
      words('it is broken off'),
    ],
  ],
}

const paceText = ({ burst, perSecond }: logins.LoginPace): string =>
  `${count(burst)}, then ${count(perSecond)} a second`
const sqlState = (state: string): Beyond => words(`SQLSTATE ${state}`)

const FUNCTIONS: LimitSection = {
  title: 'Functions',
  limits: [
    ['functions of an account', count(functions.FUNCTIONS_MAX), code('too_many_functions')],
    [
      'code, bundled',
      `${count(functions.FUNCTION_SOURCE_MAX)} characters`,
      code('invalid_request'),
    ],
    [
      'time of a request',
      `1 to ${count(functions.FUNCTION_TIMEOUT_S_MAX)} s`,
      code('function_timeout'),
    ],
    [
      'requests of a function at once',
      `${functions.FUNCTION_CONCURRENCY}, and ${functions.FUNCTION_WAITING_MAX} that wait`,
      code('function_busy'),
    ],
    [
      'requests of an account at the ingress',
      `${ROUTED_REQUESTS_MAX} that run or wait`,
      code('function_busy'),
    ],
    ['body of a request', bytes(functions.FUNCTION_BODY_BYTES_MAX), code('body_too_large')],
    [
      'lines of a log',
      `the newest ${count(functions.FUNCTION_LOG_LINES_MAX)}`,
      words('older ones go'),
    ],
  ],
}

const DEPLOYMENTS: LimitSection = {
  title: 'Deployments',
  limits: [
    [
      'description',
      `${count(deployments.DESCRIPTION_CHARACTERS_MAX)} characters`,
      code('invalid_request'),
    ],
    ['variables', count(deployments.DEPLOYMENT_VARIABLES_MAX), code('invalid_request')],
    ['files of functions', count(deployments.DEPLOYMENT_FILES_MAX), code('invalid_request')],
    ['deployments of a stack at once', '1', code('deployment_running')],
    [
      'deployments of an account at once',
      count(deployments.DEPLOYMENTS_RUNNING_MAX),
      code('too_many_deployments'),
    ],
    [
      'time until a change is there',
      seconds(deployments.DEPLOYMENT_STEP_MS_MAX),
      words('the step fails'),
    ],
    [
      'ended deployments of an account',
      `the newest ${count(deployments.DEPLOYMENTS_KEPT)}`,
      words('older ones go'),
    ],
  ],
}

const WORKLOADS: LimitSection = {
  title: 'Workloads',
  limits: [
    ['workloads of an account', count(workloads.WORKLOADS_MAX), code('too_many_workloads')],
    [
      'instances of the workloads of an account',
      count(workloads.ACCOUNT_INSTANCES_MAX),
      code('too_many_instances'),
    ],
    ['instances of a workload', count(workloads.WORKLOAD_INSTANCES_MAX), code('invalid_request')],
    ['host names of a workload', count(workloads.WORKLOAD_HOSTS_MAX), code('invalid_request')],
    [
      'requests of a workload at once',
      `${workloads.WORKLOAD_CONCURRENCY} for each of its most instances; further ones wait`,
      code('workload_busy'),
    ],
    ['body of a request', bytes(workloads.WORKLOAD_BODY_BYTES_MAX), code('body_too_large')],
    [
      'lines of a log',
      `the newest ${count(workloads.WORKLOAD_LOG_LINES_MAX)}`,
      words('older ones go'),
    ],
  ],
}

const DATABASES: LimitSection = {
  title: 'Databases',
  limits: [
    ['sessions of a database', count(SESSIONS_MAX), sqlState('53300')],
    ['files of a database', count(FILES_MAX), sqlState('53100')],
    ['rows of a query by the API', count(databases.QUERY_ROWS_MAX), code('invalid_request')],
    ['time of a query by the API', seconds(databases.QUERY_MS_MAX), code('database_query_failed')],
    ['bytes of 50 rows of such a query', bytes(SAID_BYTES_MAX), code('database_result_too_large')],
    ['logins of a database', paceText(logins.LOGINS), sqlState('53300')],
    [
      'wrong passwords of a role from an address',
      paceText(logins.ROLE_FAILURES),
      words(
        `28P01 after up to ${seconds(logins.FAILURE_DELAY_MS_MAX)}, then 53300 for that role and address`,
      ),
    ],
    [
      'wrong passwords of all roles from an address',
      paceText(logins.ADDRESS_FAILURES),
      words('the same for that address'),
    ],
    [
      'connections that have not logged in, at each proxy',
      count(STRANGERS_MAX),
      words('the oldest is ended (53300)'),
    ],
  ],
}

const EVIDENCE: LimitSection = {
  title: 'Evidence packs',
  limits: [
    ['time of a pack', `${compliance.PACK_DAYS_MAX} days`, code('invalid_request')],
    [
      'packs of an account that wait or are made',
      count(compliance.PACKS_OPEN_MAX),
      code('too_many_packs'),
    ],
    ['rows of `totals.csv`', count(TOTALS_ROWS_MAX), words('the pack fails: ask for less time')],
    ['payments in a pack', count(TRANSFERS_MAX), words('the pack fails: ask for less time')],
  ],
}

const WEBHOOKS: LimitSection = {
  title: 'Webhooks',
  limits: [
    ['endpoints of an account', count(webhooks.WEBHOOKS_MAX), code('too_many_webhooks')],
    ['events of an endpoint', count(webhooks.WEBHOOK_EVENTS_MAX), code('invalid_request')],
    ['length of a url', count(webhooks.WEBHOOK_URL_MAX), code('invalid_request')],
    ['events of a replay', count(webhooks.WEBHOOK_REPLAY_MAX), words('`has_more`')],
    ['time for an attempt', seconds(ATTEMPT_MS), words('the attempt has failed')],
    ['attempts of a delivery', count(DELAYS_MS.length), words('it is dead; `webhook replay`')],
    ['attempts at once, of an endpoint', count(AT_ONCE_MAX), words('the others wait')],
    ['attempts at once, of an account', count(ACCOUNT_AT_ONCE), words('the others wait')],
  ],
}

const PAYMENTS: LimitSection = {
  title: 'Payments',
  limits: [
    [
      'a top-up',
      `$${payments.AMOUNT_USD_MIN} to $${count(payments.AMOUNT_USD_MAX)}`,
      code('invalid_request'),
    ],
    [
      'top-ups of an account that are under way',
      count(PAYMENTS_OPEN_MAX),
      code('too_many_payments'),
    ],
    ['cards of an account', count(METHODS_MAX), code('too_many_payments')],
    [
      'cards that an account may try to add in a day',
      count(CARDS_PER_DAY_MAX),
      code('payment_pace_exceeded'),
    ],
    [
      'payments of an account that fail in a day, with those under way',
      count(FAILURES_PER_DAY_MAX),
      code('payment_pace_exceeded'),
    ],
    [
      'transactions of an account whose claims are refused in a day',
      count(REFUSED_CLAIMS_PER_DAY_MAX),
      code('payment_pace_exceeded'),
    ],
    ['a webhook of a processor', bytes(WEBHOOK_BYTES_MAX), code('body_too_large')],
    ['age of the signature of such a webhook', `${TOLERANCE_S} s`, code('webhook_late')],
  ],
}

const DESCRIPTIONS_OF_STACKS: LimitSection = {
  title: 'Description files',
  intro: 'Of `ergon.hcl`. Each is a fault with its place in the file.',
  limits: [
    ['characters of a file', count(SOURCE_LENGTH_MAX), A_FAULT],
    ['resources of a file', count(RESOURCES_MAX), A_FAULT],
    ['blocks, lists, texts and signs within each other', count(NESTING_MAX), A_FAULT],
    ['digits of a number', count(NUMBER_DIGITS_MAX), A_FAULT],
    ['steps of all expressions of a file', count(EVALUATION_STEPS_MAX), A_FAULT],
    ['characters and items of a value', count(VALUE_SIZE_MAX), A_FAULT],
    ['lists and objects of a value within each other', count(VALUE_DEPTH_MAX), A_FAULT],
    ['faults that are told', count(DIAGNOSTICS_MAX), words('the first ones are told')],
  ],
}

export const LIMITS: readonly LimitSection[] = [
  REQUESTS,
  MEMBERS,
  PORTAL_LIMITS,
  BODIES,
  INFERENCE,
  ACCOUNT,
  STORAGE,
  DATABASES,
  FUNCTIONS,
  DEPLOYMENTS,
  WORKLOADS,
  WEBHOOKS,
  EVIDENCE,
  PAYMENTS,
  DESCRIPTIONS_OF_STACKS,
]

export const beyondText = (beyond: Beyond): string =>
  'code' in beyond ? `${ERRORS[beyond.code].status} \`${beyond.code}\`` : beyond.words

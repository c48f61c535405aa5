// Limits of functions that programs without schemas know too.

/** Functions that an account has at most. */
export const FUNCTIONS_MAX = 50
/** Versions of a function that are kept, the newest first, and the live one. */
export const FUNCTION_VERSIONS_MAX = 10
/** Characters of the code, bundled. */
export const FUNCTION_SOURCE_MAX = 1_000_000
export const FUNCTION_VARIABLES_MAX = 100
/** Characters of all variables with their names. */
export const FUNCTION_ENVIRONMENT_MAX = 32_768
export const FUNCTION_TIMEOUT_S_DEFAULT = 30
export const FUNCTION_TIMEOUT_S_MAX = 900
export const FUNCTION_MEMORY_DEFAULT = '128MB'
export const FUNCTION_MEMORIES = { least: '64MB', most: '1GiB' } as const
/** The path below the account's address of functions. */
export const FUNCTION_ROUTE = /^(?=.{1,200}$)(\/|(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+)$/
/** Names of variables; those of the service begin with SVC_, and JavaScript drops __proto__. */
export const VARIABLE_NAME = /^(?!SVC_|__proto__$)[A-Za-z_][A-Za-z0-9_]{0,63}$/
/** Requests that run in a function at once; further ones wait. */
export const FUNCTION_CONCURRENCY = 20
/** Requests of a function that wait for their turn. */
export const FUNCTION_WAITING_MAX = 200
export const FUNCTION_BODY_BYTES_MAX = 16 * 1024 * 1024
/** The greatest value of the setting: as many as an account may have at the ingress. */
export const FUNCTION_CONCURRENCY_MAX = 500
/** Buckets whose new objects a function runs for. */
export const FUNCTION_BUCKETS_MAX = 10
/** Runs for objects and times that are made at once, of an account and of a node. */
export const FUNCTION_RUNS_AT_ONCE = { account: 10, node: 50 } as const
/** Runs for objects and times that wait for a function; the oldest beyond these are dropped. */
export const FUNCTION_RUNS_MAX = 100_000
/** Runs of a function that failed for good, the newest, that are kept. */
export const FUNCTION_FAILURES_MAX = 1000
/** The newest lines of its log that are kept. */
export const FUNCTION_LOG_LINES_MAX = 1000

type Language = {
  /** The names that are taken for its runtimes, and the name that is kept. */
  readonly names: RegExp
  readonly kept: string
  /** The ends of the files that they run. */
  readonly extensions: readonly string[]
}

const LANGUAGES: readonly Language[] = [
  {
    names: /^node(?:js)?-?24(?:\.x)?$/,
    kept: 'node24',
    extensions: ['.js', '.mjs', '.ts', '.mts'],
  },
  { names: /^python-?3\.?(\d{1,2})$/, kept: 'python3.$1', extensions: ['.py'] },
]

/** Names as they are expected; which versions there are is the node's. */
export const RUNTIME_EXAMPLES = ['node24', 'python3.11'] as const

const languageOf = (name: string) => LANGUAGES.find(({ names }) => names.test(name))

/** The runtime that a name means; undefined where it is of no known language. */
export function runtimeOf(name: string): string | undefined {
  const language = languageOf(name)
  return language && name.replace(language.names, language.kept)
}

/** The ends of the files that a runtime runs. */
export const extensionsOf = (runtime: string): readonly string[] =>
  languageOf(runtime)?.extensions ?? []

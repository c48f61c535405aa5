// Runs pytest over Ceph's s3-tests and judges what came of it. It passes only when pytest has run to its
// end and every test that passes by the baseline was run and passed again.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PLUGINS = join(import.meta.dirname, '../test/s3')
const MARKERS =
  'not (s3select or sns or test_of_sts or webidentity_test or iam_account or iam_user or iam_role or iam_tenant or user_policy or bucket_logging or bucket_logging_cleanup or cloud_transition or cloud_restore or target_by_bucket or (fails_on_rgw and not auth_aws2))'
/** The longest time of one test with its clean-up: one sleeps for 140 s of lifecycle days, beside three others. */
const TEST_S_MAX = 600
const NAMES = 'not (account_usage or head_bucket_usage or bucket_head_extended or unordered)'

export type SuiteRun = {
  readonly checkout: string
  readonly python: string
  /** Further arguments of pytest; with -k only a part of the baseline is wanted. */
  readonly more: readonly string[]
  /** The suite's configuration file: address, keys and accounts of the server. */
  readonly config: string
  /** Where pytest writes its report. */
  readonly report: string
}

/** The arguments choose tests by name, so that others of the baseline are absent. */
export const isSelection = (more: readonly string[]): boolean =>
  more.some((word) => word.startsWith('-k'))

/**
 * Runs the suite; gives test → PASS, FAIL or SKIP. Throws when pytest did not run to its end: any status
 * but 0 (all passed) and 1 (some failed), a signal, or no interpreter.
 */
export function outcomesOf({ checkout, python, more, config, report }: SuiteRun): Outcomes {
  const { status, signal, error } = spawnSync(
    resolve(python),
    // prettier-ignore
    ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'keep_going', '-n', '4', `--timeout=${TEST_S_MAX}`,
      `--junitxml=${report}`, 's3tests/functional/test_s3.py', 's3tests/functional/test_headers.py',
      '-m', MARKERS, ...(isSelection(more) ? [] : ['-k', NAMES]), ...more],
    {
      cwd: resolve(checkout),
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, S3TEST_CONF: config, PYTHONPATH: PLUGINS },
    },
  )
  if (error !== undefined) throw error
  if (status !== 0 && status !== 1)
    throw new Error(`pytest did not run to its end: ${signal ?? `status ${status}`}`)
  return parse(readFileSync(report, 'utf8'))
}

type Outcomes = ReadonlyMap<string, string>

function parse(xml: string): Outcomes {
  const outcomes = new Map<string, string>()
  for (const found of xml.matchAll(
    /<testcase [^>]*? name="([^"]+)"[^>]*?(\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const [, name = '', , inner = ''] = found
    const outcome = /<(failure|error)/.test(inner)
      ? 'FAIL'
      : inner.includes('<skipped')
        ? 'SKIP'
        : 'PASS'
    outcomes.set(name, outcome)
  }
  return outcomes
}

export type Baseline = {
  readonly file: string
  /** Write it anew instead of comparing. */
  readonly isUpdate: boolean
  /** Tests of the baseline may be absent. */
  readonly isPart: boolean
}

/** Says how many passed, and names what did by the baseline and does not now; the exit code. */
export function judge(outcomes: Outcomes, { file, isUpdate, isPart }: Baseline): number {
  const passed = [...outcomes].filter(([, outcome]) => outcome === 'PASS').map(([name]) => name)
  const known = isUpdate ? [] : readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const lost = known.filter((name) => (outcomes.get(name) ?? (isPart ? 'PASS' : '')) !== 'PASS')
  process.stdout.write(`${passed.length} of ${outcomes.size} pass; ${lost.length} left PASS\n`)
  for (const name of lost)
    process.stdout.write(`left PASS: ${name}${outcomes.has(name) ? '' : ' (did not run)'}\n`)
  if (isUpdate) writeFileSync(file, `${passed.toSorted().join('\n')}\n`)
  return lost.length === 0 ? 0 : 1
}

// npm run s3-tests -- CHECKOUT PYTHON [pytest arguments]: Ceph's s3-tests against an Ergon of its own.
// CHECKOUT is a clone of ceph/s3-tests (tried with 8f0ae7b), PYTHON an interpreter that has its
// requirements, pytest-xdist and pytest-timeout. The 705 tests that concern a server without STS, IAM,
// SNS, select and cloud tiers run; the outcome of each is held against test/s3/s3-tests.baseline.txt,
// and a test that leaves PASS there fails the run. `--update` writes the baseline anew.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startErgon, type Ergon } from '../test/start-ergon.ts'

const BASELINE = join(import.meta.dirname, '../test/s3/s3-tests.baseline.txt')
const PLUGINS = join(import.meta.dirname, '../test/s3')
const MARKERS =
  'not (s3select or sns or test_of_sts or webidentity_test or iam_account or iam_user or iam_role or iam_tenant or user_policy or bucket_logging or bucket_logging_cleanup or cloud_transition or cloud_restore or target_by_bucket or auth_aws2 or fails_on_rgw)'
const NAMES = 'not (account_usage or head_bucket_usage or bucket_head_extended or unordered)'
/** What the suite needs of a server, off by default. */
const SETTINGS = {
  ERGON_STORAGE_ACLS: 'on',
  ERGON_STORAGE_DAY_S: '10',
  ERGON_STORAGE_KMS_KEYS: 'testkey-1,testkey-2',
}

type Section = { readonly account: string; readonly token: string }

const isUpdate = process.argv.includes('--update')
const [checkout, python, ...rest] = process.argv.slice(2).filter((word) => word !== '--update')
if (checkout === undefined || python === undefined) {
  process.stderr.write('usage: npm run s3-tests -- CHECKOUT PYTHON [--update] [pytest arguments]\n')
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'ergon-s3-tests-'))
try {
  await using ergon = await startErgon({ env: SETTINGS })
  const outcomes = await run(ergon)
  process.exitCode = judge(outcomes)
  if (process.env['S3_TESTS_LOG'] !== undefined)
    writeFileSync(process.env['S3_TESTS_LOG'], ergon.stderr())
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function run(ergon: Ergon): Promise<Map<string, string>> {
  const sections = [
    { account: ergon.account, token: ergon.token },
    await stranger(ergon),
    await stranger(ergon),
  ]
  const config = join(folder, 's3tests.conf')
  writeFileSync(config, configOf(ergon.port, sections))
  const report = join(folder, 'report.xml')
  spawnSync(
    resolve(python ?? ''),
    // prettier-ignore
    ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'keep_going', '-n', '4', '--timeout=90',
      `--junitxml=${report}`, 's3tests/functional/test_s3.py', 's3tests/functional/test_headers.py',
      '-m', MARKERS, ...(rest.includes('-k') ? [] : ['-k', NAMES]), ...rest],
    {
      cwd: resolve(checkout ?? ''),
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, S3TEST_CONF: config, PYTHONPATH: PLUGINS },
    },
  )
  if (process.env['S3_TESTS_REPORT'] !== undefined)
    writeFileSync(process.env['S3_TESTS_REPORT'], readFileSync(report))
  return outcomesOf(readFileSync(report, 'utf8'))
}

async function stranger(ergon: Ergon): Promise<Section> {
  const { id } = await ergon.control<{ id: string }>('POST', '/accounts', { env: 'test' })
  await ergon.control('POST', `/accounts/${id}/funds`, { pusd: '5000000000000' })
  const { token } = await ergon.control<{ token: string }>('POST', '/tokens', {
    account: id,
    scope: 'deploy',
  })
  return { account: id, token }
}

function configOf(port: number, sections: readonly Section[]): string {
  const keys = ({ account, token }: Section, more = '') =>
    `display_name = ${account}\nuser_id = ${account}\nemail = ${account}@example.com\naccess_key = ${token}\nsecret_key = ${token}\n${more}`
  const [main, alt, tenant] = sections as [Section, Section, Section]
  return [
    `[DEFAULT]\nhost = localhost\nport = ${port}\nis_secure = False\nssl_verify = False\n`,
    '[fixtures]\nbucket prefix = ergon-{random}-\niam name prefix = s3-tests-\niam path prefix = /s3-tests/\n',
    `[s3 main]\n${keys(main, 'api_name = local\nlc_debug_interval = 10\n')}`,
    `[s3 alt]\n${keys(alt)}`,
    `[s3 tenant]\n${keys(tenant, 'tenant = testx\n')}`,
    `[iam]\n${keys(main)}`,
    `[iam root]\n${keys(main)}`,
    `[iam alt root]\n${keys(alt)}`,
  ].join('\n')
}

/** Test → PASS, FAIL or SKIP. */
function outcomesOf(xml: string): Map<string, string> {
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

/** 1 when a test of the baseline no longer passes. */
function judge(outcomes: ReadonlyMap<string, string>): number {
  const passed = [...outcomes].filter(([, outcome]) => outcome === 'PASS').map(([name]) => name)
  const known = isUpdate ? [] : baseline()
  const lost = known.filter((name) => outcomes.has(name) && outcomes.get(name) !== 'PASS')
  process.stdout.write(`${passed.length} of ${outcomes.size} pass; ${lost.length} left PASS\n`)
  for (const name of lost) process.stdout.write(`left PASS: ${name}\n`)
  if (isUpdate) writeFileSync(BASELINE, `${passed.toSorted().join('\n')}\n`)
  return lost.length === 0 ? 0 : 1
}

function baseline(): string[] {
  return readFileSync(BASELINE, 'utf8').split('\n').filter(Boolean)
}

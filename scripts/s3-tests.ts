// npm run s3-tests -- CHECKOUT PYTHON [pytest arguments]: Ceph's s3-tests against an Ergon of its own.
// CHECKOUT is a clone of ceph/s3-tests (tried with 8f0ae7b), PYTHON an interpreter that has its
// requirements, pytest-xdist and pytest-timeout. The 1389 tests that concern a server without STS, IAM,
// SNS, select and cloud tiers run. The outcome of each is compared with test/s3/s3-tests.baseline.txt: a test
// that leaves PASS there, or does not run, fails the run. With -k the tests that -k leaves out may be absent.
// `--update` writes the baseline anew.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startErgon, type Ergon } from '../test/start-ergon.ts'
import { isSelection, judge, outcomesOf } from './s3-outcomes.ts'

const BASELINE = join(import.meta.dirname, '../test/s3/s3-tests.baseline.txt')
/** Settings that the suite needs, off by default. */
const SETTINGS = {
  ERGON_STORAGE_ACLS: 'on',
  ERGON_STORAGE_DAY_S: '10',
  ERGON_STORAGE_KMS_KEYS: 'testkey-1,testkey-2',
}

/** Beside STANDARD; two that objects may move to on any day. */
const CLASSES = 'INTELLIGENT_TIERING, GLACIER_IR'

type Section = { readonly account: string; readonly token: string }

const isUpdate = process.argv.includes('--update')
const [checkout, python, ...more] = process.argv.slice(2).filter((word) => word !== '--update')
if (checkout === undefined || python === undefined) {
  process.stderr.write('usage: npm run s3-tests -- CHECKOUT PYTHON [--update] [pytest arguments]\n')
  process.exit(2)
}
const isPart = isSelection(more)
if (isUpdate && isPart) {
  process.stderr.write('--update writes the whole baseline: not with -k\n')
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'ergon-s3-tests-'))
try {
  await using ergon = await startErgon({ env: SETTINGS })
  const config = join(folder, 's3tests.conf')
  writeFileSync(config, await configFor(ergon))
  const report = join(folder, 'report.xml')
  try {
    const outcomes = outcomesOf({ checkout, python, more, config, report })
    process.exitCode = judge(outcomes, { file: BASELINE, isUpdate, isPart })
  } finally {
    keep('S3_TESTS_REPORT', () => readFileSync(report, 'utf8'))
    keep('S3_TESTS_LOG', () => ergon.stderr())
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Writes a text where a variable of the environment names a file for it. */
function keep(name: string, text: () => string): void {
  const file = process.env[name]
  if (file !== undefined) writeFileSync(file, text())
}

async function configFor(ergon: Ergon): Promise<string> {
  const main = { account: ergon.account, token: ergon.token }
  return configOf(ergon.port, [main, await stranger(ergon), await stranger(ergon)])
}

async function stranger(ergon: Ergon): Promise<Section> {
  const { id } = await ergon.control('account.create', { env: 'test' })
  await ergon.control('funds.add', { account: id, pusd: '5000000000000' })
  const { token } = await ergon.control('token.create', {
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
    `[s3 main]\n${keys(main, `api_name = local\nlc_debug_interval = 10\nstorage_classes = ${CLASSES}\n`)}`,
    `[s3 alt]\n${keys(alt)}`,
    `[s3 tenant]\n${keys(tenant, 'tenant = testx\n')}`,
    `[iam]\n${keys(main)}`,
    `[iam root]\n${keys(main)}`,
    `[iam alt root]\n${keys(alt)}`,
  ].join('\n')
}

// The commands as a table; each is loaded when it is called, so that the first answer is quick.
import type { CommandSpec } from './command-spec.ts'

/** Command groups, with a description of each. */
export const GROUPS: Readonly<Record<string, string>> = {
  models: 'The models that this node serves: list, add, remove',
  'models alias': 'Further names of models, for programs that ask for another one',
  artifacts: 'Files that arrive as packages: PostgreSQL, default models',
  storage: 'Buckets and objects: create, copy, list, presign, remove',
  'storage keys': 'The keys that objects are encrypted with (SSE-KMS)',
  receipt: 'Signed receipts of what was charged: list, verify',
  signers: 'The processes that sign the log of receipts together',
  self: 'The command ergon on this machine, for every folder',
  admin: 'What only the operator of this node may do',
  'admin account': 'Accounts and their switches',
  'admin funds': 'Test money of accounts',
  'admin token': 'Tokens: who may ask the service for what',
  'admin alarm': 'What was found wrong: list, acknowledge',
  'admin journal': 'Journals that a start could not post: list, post, give up',
}

export const COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'login',
    help: 'Store a token read from stdin',
    load: () => import('./commands/login.ts'),
  },
  { usage: 'status', help: 'What runs on this node', load: () => import('./commands/status.ts') },
  {
    usage: 'models list',
    help: 'The models that answer',
    load: () => import('./commands/models-list.ts'),
  },
  {
    usage: 'models add <model>',
    help: 'Serve a default model by name, a GGUF file by path, or an OpenAI-shaped server by address',
    options: [
      ['--name <name>', 'public name (default: from the file or the upstream)'],
      ['--tier <tier>', 'the hardest class it is trusted with, L0 to L3 (default L1)'],
      [
        '--context <tokens>',
        'context length (default 4096, of an encoder 512; what a file was trained for is the most)',
      ],
      ['--tools', 'the model was trained to call tools'],
      ['--embedding', 'it embeds instead of generating'],
      ['--image', 'it takes images beside text (servers)'],
      ['--audio', 'it takes sound beside text (servers)'],
      ['--dimensions <n>', 'length of its vectors (default: what a file says)'],
      ['--upstream-model <id>', 'its name at the server (required for an address)'],
      ['--api-key-stdin', 'read the server’s key from stdin'],
      ['--nj-per-token <nj>', 'declared energy of a generated token, in nanojoules (servers)'],
      [
        '--carbon-zone <zone>',
        'electricity zone that the server is in (servers; default: the mean of the world, assumed)',
      ],
      [
        '--operator <name>',
        'who runs the server, in X-Routed-To (servers; default: this node’s operator)',
      ],
      ['--region <region>', 'where it is, in X-Routed-To (servers; default unknown)'],
      ['--silicon <class>', 'what it computes with, such as h100 (servers; default unknown)'],
      [
        '--prompt-overhead-tokens <n>',
        'what the server adds to each prompt (servers; default: learned, 64 to 1024)',
      ],
    ],
    load: () => import('./commands/models-add.ts'),
  },
  {
    usage: 'models pull <url>',
    help: 'Fetch a GGUF file over HTTPS, check it, and serve it',
    options: [
      ['--sha256 <hex>', 'what the file must hash to (required)'],
      ['--name <name>', 'public name (default: from the address)'],
      ['--tier <tier>', 'the hardest class it is trusted with, L0 to L3 (default L1)'],
      [
        '--context <tokens>',
        'context length (default 4096, of an encoder 512; what it was trained for is the most)',
      ],
      ['--tools', 'the model was trained to call tools'],
      ['--embedding', 'it embeds instead of generating'],
      ['--dimensions <n>', 'length of its vectors (default: what the file says)'],
    ],
    load: () => import('./commands/models-pull.ts'),
  },
  {
    usage: 'models remove <model>',
    help: 'Stop serving a model',
    load: () => import('./commands/models-remove.ts'),
  },
  {
    usage: 'models alias list',
    help: 'Further names of models',
    load: () => import('./commands/models-alias-list.ts'),
  },
  {
    usage: 'models alias add <name> <model>',
    help: 'Serve a further name, such as gpt-4o-mini, with a model that is served, or with auto',
    load: () => import('./commands/models-alias-add.ts'),
  },
  {
    usage: 'models alias remove <name>',
    help: 'Take a further name back',
    load: () => import('./commands/models-alias-remove.ts'),
  },
  {
    usage: 'artifacts list',
    help: 'Files that arrive as packages',
    load: () => import('./commands/artifacts-list.ts'),
  },
  {
    usage: 'artifacts fetch <name>',
    help: 'Fetch one and check it',
    load: () => import('./commands/artifacts-fetch.ts'),
  },
  {
    usage: 'artifacts verify [name]',
    help: 'Hash every file again; remove what is damaged',
    load: () => import('./commands/artifacts-verify.ts'),
  },
  {
    usage: 'artifacts prune',
    help: 'Remove old versions and leftovers',
    load: () => import('./commands/artifacts-prune.ts'),
  },
  {
    usage: 'storage create <bucket>',
    alias: 'mb',
    help: 'Make a bucket; `ergon storage mb s3://bucket` is the same',
    options: [['--region <region>', 'where it is: a region of the service, or auto (default)']],
    load: () => import('./commands/storage-create.ts'),
  },
  {
    usage: 'storage ls [address]',
    help: 'The buckets, or the keys below s3://bucket/prefix with time and size',
    options: [
      ['--recursive', 'every key, not folder by folder'],
      ['--versions', 'all versions of each key, and delete markers'],
    ],
    load: () => import('./commands/storage-ls.ts'),
  },
  {
    usage: 'storage cp <from> <to>',
    help: 'Copy between files, folders or - (the standard streams) and s3://bucket/key, or within storage',
    options: [
      ['--recursive', 'a folder and everything below it'],
      ['--content-type <type>', 'what goes up is that (default: what its name ends in says)'],
    ],
    load: () => import('./commands/storage-cp.ts'),
  },
  {
    usage: 'storage rm <address>',
    help: 'Remove the object s3://bucket/key',
    options: [
      ['--recursive', 'everything below the address; all of it for s3://bucket'],
      ['--versions', 'every version and delete marker, for good'],
    ],
    load: () => import('./commands/storage-rm.ts'),
  },
  {
    usage: 'storage presign <address>',
    help: 'An address that lets whoever has it read or write one object; it never bears the token',
    options: [
      ['--method <method>', 'get or put (default get)'],
      ['--expires <duration>', 'for how long, at most 7d (default 1h)'],
    ],
    load: () => import('./commands/storage-presign.ts'),
  },
  {
    usage: 'storage rb <bucket>',
    help: 'Remove a bucket without objects; its open uploads are aborted',
    options: [
      ['--force', 'first every version and delete marker in it, for good; nothing is asked'],
    ],
    load: () => import('./commands/storage-rb.ts'),
  },
  {
    usage: 'storage keys list',
    help: 'The keys of ERGON_STORAGE_KMS_KEYS: version, and how far the objects are',
    load: () => import('./commands/storage-keys-list.ts'),
  },
  {
    usage: 'storage keys rotate <key>',
    help: 'A new version of a key; objects are wrapped again in the background',
    load: () => import('./commands/storage-keys-rotate.ts'),
  },
  {
    usage: 'storage move',
    help: 'Bring all bodies to where new ones go (ERGON_STORAGE_BLOBS), in the background; again shows how far it is',
    options: [
      ['--to <place>', 'fs, s3 or s3://bucket/prefix; refused where new ones go elsewhere'],
      ['--stop', 'stop it; what was moved stays there'],
    ],
    load: () => import('./commands/storage-move.ts'),
  },
  {
    usage: 'usage',
    help: 'What the account used, and how much of its energy a sensor read',
    options: [
      ['--since <duration>', 'for example 24h, 7d (default 24h)'],
      ['--group-by <what>', 'service, model, token, operation or day (default service)'],
      ['--last', 'the last request of this token'],
    ],
    load: () => import('./commands/usage.ts'),
  },
  {
    usage: 'energy',
    help: 'Energy and carbon of the account over a period',
    options: [['--since <duration>', 'for example 1h, 24h, 7d (default 24h)']],
    load: () => import('./commands/energy.ts'),
  },
  {
    usage: 'receipt list',
    help: 'What the account was charged, the newest first',
    options: [
      ['--before <number>', 'only charges older than the one with this number'],
      ['--limit <n>', 'at most so many (default 100, at most 1000)'],
    ],
    load: () => import('./commands/receipt-list.ts'),
  },
  {
    usage: 'receipt verify <receipt>',
    help: 'Check a receipt (an id, or a file: then offline)',
    options: [
      ['--keys <file>', 'the verifier keys (default: those pinned at first use)'],
      ['--accept-new-key', 'pin a log of another key that no pinned one names, if it follows'],
      ['--out <file>', 'keep the receipt as a file'],
    ],
    load: () => import('./commands/receipt-verify.ts'),
  },
  {
    usage: 'signers new-key',
    help: 'A new key for the log of receipts, when signers have lost their share',
    load: () => import('./commands/signers-new-key.ts'),
  },
  {
    usage: 'meter',
    help: 'Live watts, their split and their method',
    options: [
      ['--watch', 'show it again every second, until Ctrl-C; with --json a line each time'],
    ],
    load: () => import('./commands/meter.ts'),
  },
  {
    usage: 'meter calibrate',
    help: 'Measure this machine’s power curve against its sensor',
    load: () => import('./commands/meter-calibrate.ts'),
  },
  {
    usage: 'admin account list',
    help: 'Accounts and balances',
    load: () => import('./commands/admin-account-list.ts'),
  },
  {
    usage: 'admin account create',
    help: 'A new account',
    options: [['--env <env>', 'test or live (default test)']],
    load: () => import('./commands/admin-account-create.ts'),
  },
  {
    usage: 'admin account set <account>',
    help: 'Change a switch of an account',
    options: [
      [
        '--refuse-token-presign <on|off>',
        'refuse S3 addresses and forms that bear a token: on or off',
      ],
    ],
    load: () => import('./commands/admin-account-set.ts'),
  },
  {
    usage: 'admin funds add <account> <amount>',
    help: 'Test money, in tUSD',
    load: () => import('./commands/admin-funds-add.ts'),
  },
  {
    usage: 'admin token list',
    help: 'Tokens, without their secrets',
    load: () => import('./commands/admin-token-list.ts'),
  },
  {
    usage: 'admin token create',
    help: 'A new token, shown once',
    options: [
      ['--scope <scope>', 'read, deploy or billing-admin (default read)'],
      ['--account <account>', 'whose it is (default: the first account)'],
      ['--name <name>', 'to recognise it'],
      ['--expires <days>', 'days until it expires (default: never)'],
      ['--key-pair', 'for S3: an access key and its secret, in place of the token'],
    ],
    load: () => import('./commands/admin-token-create.ts'),
  },
  {
    usage: 'admin token revoke <token>',
    help: 'Refused from the next request on',
    load: () => import('./commands/admin-token-revoke.ts'),
  },
  {
    usage: 'admin alarm list',
    help: 'What was found wrong and nobody has acknowledged',
    options: [['--all', 'those that were acknowledged too']],
    load: () => import('./commands/admin-alarm-list.ts'),
  },
  {
    usage: 'admin alarm acknowledge <alarm>',
    help: 'It and the earlier ones of its kind count no more; they are kept',
    load: () => import('./commands/admin-alarm-acknowledge.ts'),
  },
  {
    usage: 'admin tasks',
    help: 'Background tasks: last and next run, progress, failures, dead jobs',
    load: () => import('./commands/admin-tasks.ts'),
  },
  {
    usage: 'admin tasks retry <job>',
    help: 'Run a dead job again, with all its attempts',
    load: () => import('./commands/admin-tasks-retry.ts'),
  },
  {
    usage: 'admin tasks run <name>',
    help: 'Run a task now',
    load: () => import('./commands/admin-tasks-run.ts'),
  },
  {
    usage: 'admin journal list',
    help: 'Journals that the last start could not post, and kept',
    load: () => import('./commands/admin-journal-list.ts'),
  },
  {
    usage: 'admin journal post <process>',
    help: 'Try again to post one, once what was wrong is mended',
    load: () => import('./commands/admin-journal-post.ts'),
  },
  {
    usage: 'admin journal drop <process>',
    help: 'Post what can be posted of one, and give up the rest: its files are set aside',
    load: () => import('./commands/admin-journal-drop.ts'),
  },
  {
    usage: 'self install',
    isLocal: true,
    help: 'Make ergon a command of every folder, with completion; again after the project has moved',
    options: [['--dir <folder>', 'where the command goes (default ~/.local/bin)']],
    load: () => import('./commands/self-install.ts'),
  },
  {
    usage: 'self uninstall',
    isLocal: true,
    help: 'Remove what self install wrote',
    options: [['--dir <folder>', 'where the command is (default ~/.local/bin)']],
    load: () => import('./commands/self-uninstall.ts'),
  },
  {
    usage: 'completion <shell>',
    isLocal: true,
    help: 'A completion script: bash, zsh or fish',
    load: () => import('./commands/completion.ts'),
  },
]

// The commands of object storage.
import type { CommandList } from '#cli/command-spec.ts'

export const STORAGE_COMMANDS: CommandList = {
  groups: {
    storage: 'Buckets and objects: create, copy, list, presign, remove',
    'storage keys': 'The keys that objects are encrypted with (SSE-KMS)',
  },
  commands: [
    {
      usage: 'storage create <bucket>',
      alias: 'mb',
      help: 'Make a bucket; `ergon storage mb s3://bucket` is the same',
      options: [['--region <region>', 'where it is: a region of the service, or auto (default)']],
      load: () => import('#cli/commands/storage/create.ts'),
    },
    {
      usage: 'storage ls [address]',
      help: 'The buckets, or the keys below s3://bucket/prefix with time and size',
      options: [
        ['--recursive', 'every key, not folder by folder'],
        ['--versions', 'all versions of each key, and delete markers'],
      ],
      load: () => import('#cli/commands/storage/ls.ts'),
    },
    {
      usage: 'storage cp <from> <to>',
      help: 'Copy between files, folders or - (the standard streams) and s3://bucket/key, or within storage',
      options: [
        ['--recursive', 'a folder and everything below it'],
        [
          '--content-type <type>',
          'type of the uploaded objects (default: by the ending of the name)',
        ],
      ],
      load: () => import('#cli/commands/storage/cp.ts'),
    },
    {
      usage: 'storage rm <address>',
      help: 'Remove the object s3://bucket/key',
      options: [
        ['--recursive', 'everything below the address; all of it for s3://bucket'],
        ['--versions', 'every version and delete marker, for good'],
        ['--uploads', 'the parts of incomplete uploads, not the object'],
      ],
      load: () => import('#cli/commands/storage/rm.ts'),
    },
    {
      usage: 'storage presign <address>',
      help: 'An address by which anyone can read or write one object; it never contains the token',
      options: [
        ['--method <method>', 'get or put (default get)'],
        ['--expires <duration>', 'for how long, at most 7d (default 1h)'],
      ],
      load: () => import('#cli/commands/storage/presign.ts'),
    },
    {
      usage: 'storage rb <bucket>',
      help: 'Remove a bucket; its open uploads are aborted. Where it has objects, a person is asked for its name',
      options: [
        ['--force', 'first every version and delete marker in it, for good; nothing is asked'],
        ['--yes', 'the same'],
      ],
      load: () => import('#cli/commands/storage/rb.ts'),
    },
    {
      usage: 'storage keys list',
      help: 'The keys of ERGON_STORAGE_KMS_KEYS: version, and how far the objects are',
      load: () => import('#cli/commands/storage/keys-list.ts'),
    },
    {
      usage: 'storage keys rotate <key>',
      help: 'A new version of a key; objects are wrapped again in the background',
      load: () => import('#cli/commands/storage/keys-rotate.ts'),
    },
    {
      usage: 'storage move',
      help: 'Bring all bodies to where new ones go (ERGON_STORAGE_BLOBS), in the background; again shows how far it is',
      options: [
        ['--to <place>', 'fs, s3 or s3://bucket/prefix; refused where new ones go elsewhere'],
        ['--stop', 'stop the move; moved bodies stay there'],
      ],
      load: () => import('#cli/commands/storage/move.ts'),
    },
  ],
}

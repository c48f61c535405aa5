// The commands of models.
import type { CommandList } from '#cli/command-spec.ts'

export const INFERENCE_COMMANDS: CommandList = {
  groups: {
    models: 'The models that this node serves: list, add, remove',
    'models alias': 'Further names of models, for programs that ask for another one',
  },
  commands: [
    {
      usage: 'models add <model>',
      help: 'Serve a default model by name, a GGUF file by path, or an OpenAI-shaped server by address',
      options: [
        ['--name <name>', 'public name (default: from the file or the upstream)'],
        ['--tier <tier>', 'the hardest class it is trusted with, L0 to L3 (default L1)'],
        [
          '--context <tokens>',
          'context length (default 4096, of an encoder 512; at most the trained length of a file)',
        ],
        ['--tools', 'the model was trained to call tools'],
        ['--embedding', 'it embeds instead of generating'],
        ['--image', 'it takes images beside text (servers)'],
        ['--audio', 'it takes sound beside text (servers)'],
        ['--dimensions <n>', 'length of its vectors (default: that of the file)'],
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
        ['--silicon <class>', 'its processor, such as h100 (servers; default unknown)'],
        [
          '--prompt-overhead-tokens <n>',
          'tokens that the server adds to each prompt (servers; default: learned, 64 to 1024)',
        ],
      ],
      load: () => import('#cli/commands/models/add.ts'),
    },
    {
      usage: 'models pull <url>',
      help: 'Fetch a GGUF file over HTTPS, check it, and serve it',
      options: [
        ['--sha256 <hex>', 'SHA-256 of the file (required)'],
        ['--name <name>', 'public name (default: from the address)'],
        ['--tier <tier>', 'the hardest class it is trusted with, L0 to L3 (default L1)'],
        [
          '--context <tokens>',
          'context length (default 4096, of an encoder 512; at most the trained length)',
        ],
        ['--tools', 'the model was trained to call tools'],
        ['--embedding', 'it embeds instead of generating'],
        ['--dimensions <n>', 'length of its vectors (default: that of the file itself)'],
      ],
      load: () => import('#cli/commands/models/pull.ts'),
    },
    {
      usage: 'models remove <model>',
      help: 'Stop serving a model',
      load: () => import('#cli/commands/models/remove.ts'),
    },
    {
      usage: 'models alias list',
      help: 'Further names of models',
      load: () => import('#cli/commands/models/alias-list.ts'),
    },
    {
      usage: 'models alias add <name> <model>',
      help: 'Serve a further name, such as gpt-4o-mini, with a model that is served, or with auto',
      load: () => import('#cli/commands/models/alias-add.ts'),
    },
    {
      usage: 'models alias remove <name>',
      help: 'Take a further name back',
      load: () => import('#cli/commands/models/alias-remove.ts'),
    },
  ],
}

// The commands of the command line itself.
import type { CommandList } from '#cli/command-spec.ts'

export const SELF_COMMANDS: CommandList = {
  groups: {
    self: 'The command ergon on this machine, for every folder',
  },
  commands: [
    {
      usage: 'self install',
      isLocal: true,
      help: 'Make ergon a command of every folder, with completion; again after the project has moved',
      options: [['--dir <folder>', 'where the command goes (default ~/.local/bin)']],
      load: () => import('#cli/commands/self/install.ts'),
    },
    {
      usage: 'self uninstall',
      isLocal: true,
      help: 'Remove the files of self install',
      options: [['--dir <folder>', 'where the command is (default ~/.local/bin)']],
      load: () => import('#cli/commands/self/uninstall.ts'),
    },
    {
      usage: 'completion <shell>',
      isLocal: true,
      help: 'A completion script: bash, zsh or fish',
      load: () => import('#cli/commands/completion.ts'),
    },
  ],
}

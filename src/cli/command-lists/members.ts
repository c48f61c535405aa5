// The commands of members.
import type { CommandList } from '#cli/command-spec.ts'

const EXPIRES = [
  '--expires <duration>',
  'for how long the code is accepted, such as 12h (default 7d, at most 30d)',
] as const

export const MEMBERS_COMMANDS: CommandList = {
  groups: { members: 'Members of the account: people with roles, invitations' },
  commands: [
    {
      usage: 'members list',
      help: 'The members and the open invitations, the newest first',
      options: [['--all', 'removed members too']],
      load: () => import('#cli/commands/members/list.ts'),
    },
    {
      usage: 'members invite <name>',
      help: 'Invite a person; the code is printed this once',
      options: [
        ['--role <role>', 'owner, admin, developer or viewer (default developer)'],
        ['--contact <text>', 'words by which the member is reached; nothing is sent there'],
        EXPIRES,
        ['--again', 'a new code for a member, in place of the name its id'],
      ],
      load: () => import('#cli/commands/members/invite.ts'),
    },
    {
      usage: 'members accept <code>',
      help: 'Accept an invitation; the first token is printed this once, for `ergon login`',
      load: () => import('#cli/commands/members/accept.ts'),
    },
    {
      usage: 'members set <member>',
      help: 'Change a member; tokens above a new role are revoked at once',
      options: [
        ['--role <role>', 'owner, admin, developer or viewer'],
        ['--name <name>', 'by which people recognise the member'],
        ['--contact <text>', 'words by which the member is reached, or none'],
      ],
      load: () => import('#cli/commands/members/set.ts'),
    },
    {
      usage: 'members remove <member>',
      help: 'Remove a member with its tokens, or withdraw its invitation',
      load: () => import('#cli/commands/members/remove.ts'),
    },
    {
      usage: 'members leave',
      help: 'Leave the account; every token of yours ends, the one of this command too',
      load: () => import('#cli/commands/members/leave.ts'),
    },
  ],
}

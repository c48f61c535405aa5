// The few icons: phone tabs and states. Drawn here, 1.5 px stroke on 24 px.
const PATHS = {
  overview: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 3.5V9M12 12l4-3',
  playground: 'M4 5h16v11H11l-4 3.5V16H4Z',
  ledger: 'M4 6h16M4 12h16M4 18h10',
  services: 'M4 4h7v7H4ZM13 4h7v7h-7ZM4 13h7v7H4ZM13 13h7v7h-7Z',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  holds: 'M4.5 12.5l5 5 10-11',
  fails: 'M6 6l12 12M18 6L6 18',
  waits: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 7v5l3.5 2',
  warns: 'M12 4L21 19.5H3ZM12 10v4.5M12 17h.01',
} as const
export type IconName = keyof typeof PATHS

export const Icon = ({
  name,
  weight = 1.5,
}: {
  readonly name: IconName
  readonly weight?: number
}) => (
  <svg
    viewBox="0 0 24 24"
    width="24"
    height="24"
    fill="none"
    stroke="currentColor"
    strokeWidth={weight}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
)

export const Logo = () => (
  <svg viewBox="0 0 26 26" aria-hidden="true">
    <rect width="26" height="26" rx="3" fill="#ffcc1a" />
    <path d="M13 4.5V22" stroke="#12181a" strokeWidth="4" />
    <path d="M4.4 16v6M8.2 16v6M17.8 16v6M21.6 16v6" stroke="#12181a" strokeWidth="1.7" />
  </svg>
)

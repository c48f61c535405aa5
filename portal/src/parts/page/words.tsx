// A message of the service: its commands stand between backticks.
export const Words = ({ text }: { readonly text: string }) =>
  text.split('`').map((part, nth) => (nth % 2 === 0 ? part : <code key={nth}>{part}</code>))

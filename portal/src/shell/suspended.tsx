// The banner of a suspended account, with the reason of the operator.
export const Suspended = ({ reason }: { readonly reason: string }) => (
  <div className="note bad" role="status">
    <p>
      <b>The operator suspended this account. </b>
      {reason}. Its requests are refused and its databases have ended; nothing is deleted. What it
      was charged can be read here.
    </p>
  </div>
)

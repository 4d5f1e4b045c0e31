export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg className="mark" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
      <path d="M4 3v14a4 4 0 0 0 4 4h8a4 4 0 0 0 4-4V3" className="line" />
      <path d="M12 4c2 2.2 2.8 4.3 2.8 6.5V15a1.5 1.5 0 0 1-1.5 1.5h-2.6A1.5 1.5 0 0 1 9.2 15v-4.5C9.2 8.3 10 6.2 12 4z" />
    </svg>
  )
}

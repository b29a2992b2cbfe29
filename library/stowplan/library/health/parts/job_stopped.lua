if holds.Stalled then
  return { status = "Degraded", message = holds.Stalled }
end
if holds.Suspended then
  return { status = "Suspended", message = holds.Suspended }
end

if obj.status == nil then
  return health
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  health.message = "Waiting for the agents to see the newest spec"
  return health
end
-- What keeps the dataset from its next step is told by the condition that waits for it; these reasons say that nothing
-- does.
local plain = {
  NotStarted = true, Running = true, Suspended = true, Succeeded = true, NoSync = true, running = true, waiting = true,
  Bound = true, Mount = true, Syncing = true, SyncFailed = true, PartialReady = true, Ready = true,
}
local small, kept = nil, nil
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    if condition.type == "Stalled" and condition.status == "True" then
      return { status = "Degraded", message = condition.message or condition.reason }
    end
    if condition.type == "CacheTooSmall" and condition.status == "True" then
      small = "The cache is too small: " .. (condition.message or condition.reason)
    end
    local first = condition.type == "Ready" or (condition.type == "Synced" and kept == nil)
    if first and condition.status == "False" and not plain[condition.reason] then
      kept = condition.message or condition.reason
    end
  end
end

-- Health of a PaddleJob from what is reported of it. Argo CD runs this without the string and math libraries.
local waiting = "Waiting for the first report"
if obj.status == nil then
  return { status = "Progressing", message = waiting }
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for a report on the newest spec" }
end
-- What keeps the job from its end is told by the condition that waits for it; these reasons say that nothing does.
local plain = { NotStarted = true, Running = true, Succeeded = true, Suspended = true }
local holds, kept = {}, nil
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    if condition.status == "True" then
      holds[condition.type] = condition.message or condition.reason
    elseif condition.type == "Complete" and not plain[condition.reason] then
      kept = condition.message or condition.reason
    end
  end
end
local phase = status.phase
if phase == nil or phase == "" then
  phase = (holds.Failed and "Failed") or (holds.Complete and "Completed")
end
local ended = {
  Completed = { "Healthy", "The job is done" },
  Succeed = { "Healthy", "The job is done" },
  Failed = { "Degraded", holds.Failed or "The job failed" },
  Aborted = { "Degraded", holds.Failed or "The job was aborted" },
  Terminated = { "Degraded", holds.Failed or "The job was ended before it was done" },
}
local going = {
  Pending = "Pods are waiting for nodes or images",
  Starting = "Pods are starting",
  Running = "The job is running",
  Scaling = "The job gets more or fewer workers",
  Restarting = "The job is starting again",
  Completing = "The job is being completed",
  Aborting = "The job is being aborted",
  Terminating = "The job is being ended",
}
local health = phase and ended[phase]
if health then
  return { status = health[1], message = health[2] }
end
if holds.Stalled then
  return { status = "Degraded", message = holds.Stalled }
end
if holds.Suspended then
  return { status = "Suspended", message = holds.Suspended }
end
return { status = "Progressing", message = kept or (phase and going[phase] or waiting) }

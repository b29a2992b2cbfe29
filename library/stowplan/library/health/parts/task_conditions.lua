local plain = { NotStarted = true, Running = true, Succeeded = true, Suspended = true }
local stalled, kept = nil, nil
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Stalled" and condition.status == "True" then
    stalled = condition.message or condition.reason
  elseif condition.type == "Complete" and condition.status == "False" and not plain[condition.reason] then
    kept = condition.message or condition.reason
  end
end
if status.phase ~= "Pending" then
  kept = nil
end

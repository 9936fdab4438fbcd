// The Go1 in MuJoCo as in mjlab's task: mjlab's own robot file with the task's additions: a floor,
// contacts, and position actuators, whose gains come from the bundle.
//
// Owned by one thread. All functions that a tick calls work in MuJoCo's memory, except for the
// small vectors of returned measurements.
#pragma once

#include <mujoco/mujoco.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

class Robot {
 public:
  struct Joint {
    std::string name;
    double stiffness, damping, rest;
  };

  /// Loads the robot; `joints` are in the order of the policy. Throws std::runtime_error with
  /// MuJoCo's message.
  Robot(const std::filesystem::path& xml, std::vector<Joint> joints) : joints_(std::move(joints)) {
    std::array<char, 500> error{};
    const std::unique_ptr<mjSpec, Delete> spec(
        mj_parseXML(xml.c_str(), nullptr, error.data(), static_cast<int>(error.size())));
    if (!spec) throw std::runtime_error(error.data());
    add_task(*spec);
    model_.reset(mj_compile(spec.get(), nullptr));
    if (!model_) throw std::runtime_error(mjs_getError(spec.get()));
    set_options(model_->opt);
    data_.reset(mj_makeData(model_.get()));
    for (const Joint& joint : joints_) {
      const int id = mj_name2id(model_.get(), mjOBJ_JOINT, joint.name.c_str());
      positions_.push_back(static_cast<std::size_t>(model_->jnt_qposadr[id]));
      velocities_.push_back(static_cast<std::size_t>(model_->jnt_dofadr[id]));
    }
    trunk_ = mj_name2id(model_.get(), mjOBJ_BODY, "trunk");
    stand(0, nullptr);
  }

  /// Places the robot at rest on the floor, turned by `yaw`, with joints slightly off if there is a
  /// `generator`.
  void stand(double yaw, std::mt19937* generator) {
    mj_resetData(model_.get(), data_.get());
    data_->qpos[2] = 0.278;
    data_->qpos[3] = std::cos(yaw / 2);
    data_->qpos[6] = std::sin(yaw / 2);
    std::uniform_real_distribution<double> off(-0.1, 0.1);
    for (std::size_t i = 0; i < joints_.size(); ++i)
      data_->qpos[positions_[i]] = joints_[i].rest + (generator != nullptr ? off(*generator) : 0);
    mj_forward(model_.get(), data_.get());
  }

  std::vector<float> sensor(const char* name) const {
    const int id = mj_name2id(model_.get(), mjOBJ_SENSOR, name);
    const mjtNum* first = data_->sensordata + model_->sensor_adr[id];
    return {first, first + model_->sensor_dim[id]};
  }
  /// Returns the direction of gravity in the trunk's frame.
  std::vector<float> gravity() const {
    const mjtNum* up = data_->xmat + 9 * trunk_ + 6;
    return {static_cast<float>(-up[0]), static_cast<float>(-up[1]), static_cast<float>(-up[2])};
  }
  std::vector<float> joint_positions() const { return picked(data_->qpos, positions_); }
  std::vector<float> joint_velocities() const { return picked(data_->qvel, velocities_); }

  /// Runs one control step of 20 ms: several steps of physics of 5 ms. MuJoCo's actuators are the
  /// PD controllers.
  template <typename Number>
  void step(const Number* targets, int steps = 4) {
    for (std::size_t i = 0; i < joints_.size(); ++i)
      data_->ctrl[i] = static_cast<double>(targets[i]);
    for (int i = 0; i < steps; ++i) mj_step(model_.get(), data_.get());
    mj_forward(model_.get(), data_.get());
  }

  /// Sets stiffness and damping of the motors, in the order of the joints.
  void set_gains(const double* stiffness, const double* damping) {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      model_->actuator_gainprm[i * mjNGAIN] = stiffness[i];
      model_->actuator_biasprm[i * mjNBIAS + 1] = -stiffness[i];
      model_->actuator_biasprm[i * mjNBIAS + 2] = -damping[i];
    }
  }

  /// Returns the position of the trunk, in metres.
  const mjtNum* position() const { return data_->qpos; }

  /// Changes the velocity of the trunk like a push: up to 0.5 m/s sideways, 0.4 m/s up and down.
  void push(std::mt19937& generator) {
    std::uniform_real_distribution<double> sideways(-0.5, 0.5);
    std::uniform_real_distribution<double> upwards(-0.4, 0.4);
    data_->qvel[0] += sideways(generator);
    data_->qvel[1] += sideways(generator);
    data_->qvel[2] += upwards(generator);
    mj_forward(model_.get(), data_.get());
  }

  /// Returns whether the robot has fallen as mjlab defines it: tilted by more than 70 degrees.
  bool fallen() const { return data_->xmat[9 * trunk_ + 8] < std::cos(70 * mjPI / 180); }

  /// Writes one line of CSV: time, `asked`, measured velocity and turning rate, and qpos.
  void write(std::ostream& out, std::array<float, 3> asked) const {
    out << data_->time;
    for (float value : asked) out << ',' << value;
    const std::vector<float> v = sensor("imu_lin_vel");
    out << ',' << v[0] << ',' << v[1] << ',' << sensor("imu_ang_vel")[2];
    for (int i = 0; i < model_->nq; ++i) out << ',' << data_->qpos[i];
    out << '\n';
  }

 private:
  struct Delete {
    void operator()(mjSpec* spec) const { mj_deleteSpec(spec); }
    void operator()(mjModel* model) const { mj_deleteModel(model); }
    void operator()(mjData* data) const { mj_deleteData(data); }
  };

  static std::vector<float> picked(const mjtNum* values, const std::vector<std::size_t>& at) {
    std::vector<float> result;
    for (std::size_t i : at) result.push_back(static_cast<float>(values[i]));
    return result;
  }

  static bool has(std::string_view name, std::string_view part) {
    return name.find(part) != std::string_view::npos;
  }

  // A floor; harder contacts, with friction at the feet alone; motors.
  void add_task(mjSpec& spec) const {
    mjsGeom* floor = mjs_addGeom(mjs_findBody(&spec, "world"), nullptr);
    floor->type = mjGEOM_PLANE;
    floor->size[2] = 0.01;
    for (mjsElement* e = mjs_firstElement(&spec, mjOBJ_GEOM); e != nullptr;
         e = mjs_nextElement(&spec, e)) {
      const std::string_view name = mjs_getString(mjs_getName(e));
      if (!has(name, "_collision")) continue;
      mjsGeom* geom = mjs_asGeom(e);
      const bool foot = has(name, "_foot");
      geom->solref[0] = 0.01;
      geom->condim = foot ? 6 : 1;
      geom->priority = foot ? 1 : 0;
      if (foot) geom->friction[1] = 5e-3, geom->friction[2] = 5e-4;
    }
    for (const Joint& joint : joints_) add_motor(spec, joint);
  }

  static void add_motor(mjSpec& spec, const Joint& joint) {
    mjsElement* found = mjs_findElement(&spec, mjOBJ_JOINT, joint.name.c_str());
    if (found == nullptr) throw std::runtime_error("the robot has no joint " + joint.name);
    const bool knee = has(joint.name, "_calf");
    const double gear = knee ? 9 : 6;
    mjs_asJoint(found)->armature = 0.000111842 * gear * gear;  // of the rotor
    mjsActuator* motor = mjs_addActuator(&spec, nullptr);
    mjs_setName(motor->element, joint.name.c_str());
    mjs_setString(motor->target, joint.name.c_str());
    motor->trntype = mjTRN_JOINT;
    motor->gaintype = mjGAIN_FIXED;
    motor->biastype = mjBIAS_AFFINE;
    motor->gainprm[0] = joint.stiffness;
    motor->biasprm[1] = -joint.stiffness;
    motor->biasprm[2] = -joint.damping;
    motor->ctrllimited = mjLIMITED_FALSE;
    motor->forcelimited = mjLIMITED_TRUE;
    motor->forcerange[1] = knee ? 35.55 : 23.7;
    motor->forcerange[0] = -motor->forcerange[1];
  }

  static void set_options(mjOption& option) {
    option.timestep = 0.005;
    option.integrator = mjINT_IMPLICITFAST;
    option.cone = mjCONE_ELLIPTIC;
    option.impratio = 10;
    option.iterations = 10;
    option.ls_iterations = 20;
  }

  std::vector<Joint> joints_;
  std::unique_ptr<mjModel, Delete> model_;
  std::unique_ptr<mjData, Delete> data_;
  std::vector<std::size_t> positions_, velocities_;  // of the joints, in qpos and qvel
  int trunk_ = 0;
};
